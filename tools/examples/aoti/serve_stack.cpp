// Runs the package of export_stack.py in a process without Python: a runner and, on a GPU, a stream for each of its
// threads. Prints the sum of one result, and the calls a second of one thread and of all. Built against libtorch; the
// operators come from the wheel's _torch_ops.so, which is opened before the package is loaded.
//   serve_stack STACK.pt2 _torch_ops.so [cpu|cuda] [threads]
#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kCalls = 200, kEmbedding = 64;

using Loader = torch::inductor::AOTIModelPackageLoader;

struct Inputs {
  at::Tensor x, offsets;

  explicit Inputs(c10::Device device)
      : x(at::ones({40, kEmbedding}, at::device(device).dtype(device.is_cuda() ? at::kBFloat16 : at::kFloat))),
        offsets(at::tensor({0, 10, 40}, at::kLong).to(device)) {}
};

// On a GPU the thread's work goes to a stream of its own: the package runs on torch's current one.
void serve(Loader& loader, c10::Device device, int calls) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream stream = device.is_cuda() ? guard.getNewStream(device, 0) : guard.getStream(device);
  const c10::Stream before = guard.exchangeStream(stream);
  const Inputs inputs(device);
  for (int i = 0; i < calls; ++i) loader.run({inputs.x, inputs.offsets});
  if (device.is_cuda()) guard.synchronizeStream(stream);
  guard.exchangeStream(before);
}

double calls_a_second(Loader& loader, c10::Device device, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(serve, std::ref(loader), device, kCalls);
  for (std::thread& each : all) each.join();
  return kCalls * threads / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "serve_stack STACK.pt2 _torch_ops.so [cpu|cuda] [threads]\n");
    return 2;
  }
  if (!dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const c10::Device device(std::string(argc > 3 && std::string(argv[3]) == "cuda" ? "cuda:0" : "cpu"));
  const int threads = argc > 4 ? std::atoi(argv[4]) : 4;
  Loader loader(argv[1], "model", false, static_cast<size_t>(threads));
  const Inputs inputs(device);
  const at::Tensor out = loader.run({inputs.x, inputs.offsets}).at(0);
  std::printf("sum %.9e\n", out.to(at::kDouble).sum().item<double>());
  const double one = calls_a_second(loader, device, 1);
  std::printf("calls a second: 1 thread %.0f, %d threads %.0f\n", one, threads,
              calls_a_second(loader, device, threads));
}
