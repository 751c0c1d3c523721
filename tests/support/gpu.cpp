#include "support/gpu.hpp"

#include "jit/compiler.hpp"
#include "support/env.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"

#include <fstream>
#include <map>
#include <sstream>

namespace hstujit::test {
namespace {

const Gpu* open() {
  try {
    static Gpu gpu;
    gpu.driver = &driver();
    CUdevice device = 0;
    gpu.driver->check(gpu.driver->cuDeviceGet(&device, 0), "opening device 0");
    gpu.driver->check(gpu.driver->cuDevicePrimaryCtxRetain(&gpu.context, device), "retaining its context");
    gpu.driver->check(gpu.driver->cuCtxPushCurrent(gpu.context), "making it current");
    gpu.facts = device_facts(*gpu.driver, 0);
    gpu.tile_counters = new TileCounters(*gpu.driver);
    return &gpu;
  } catch (const Error&) { return nullptr; }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) fail(HSTU_ERROR_INVALID_ARGUMENT, "cannot read {}", path.string());
  return text.str();
}

/// The test's own header and every kernel header that it includes.
SourceClosure closure_of(const std::string& header) {
  static KernelSources sources;
  static std::map<std::string, std::map<std::string, std::string>> kept;
  std::map<std::string, std::string>& files = kept[header];
  const std::string text = text_of(source_dir() / "tests" / "kernels" / header);
  files.emplace(header, text);
  for (const std::string& name : included_names(text))
    for (const SourceClosure::File& file : sources.closure(name).files) files.emplace(file.name, file.text);
  SourceClosure closure;
  for (const auto& [name, content] : files) closure.files.push_back({name.c_str(), content.c_str()});
  return closure;
}

}  // namespace

const Gpu* gpu() {
  static const Gpu* const opened = open();
  return opened;
}

DeviceBuffer::DeviceBuffer(size_t bytes) : bytes_(bytes) {
  gpu()->driver->check(gpu()->driver->cuMemAlloc(&address_, bytes), "allocating device memory");
}
DeviceBuffer::~DeviceBuffer() { gpu()->driver->cuMemFree(address_); }
void DeviceBuffer::write(const void* from, size_t bytes) { gpu()->driver->upload(address_, from, bytes); }
void DeviceBuffer::read_bytes(void* to, size_t bytes) const {
  gpu()->driver->check(gpu()->driver->cuMemcpyDtoH(to, address_, bytes), "copying from the device");
}

std::unique_ptr<LoadedKernel> kernel_of_tests(const std::string& header, const std::string& entry, int smem_bytes) {
  const Gpu& device = *gpu();
  Source source;
  source.name = header + " " + entry;
  source.header = header;
  source.unit = "#include \"" + header + "\"\n";
  source.entry = entry;
  source.target = device.facts.target;
  source.options = {"--gpu-architecture=" + device.facts.target, "--std=c++17"};
  const CompiledKernel compiled = compile(nvrtc_at(Environment::read().libnvrtc), source, closure_of(header));
  return std::make_unique<LoadedKernel>(*device.driver, compiled, smem_bytes);
}

void run_check(const LoadedKernel& kernel, const Launch& launch) {
  const Driver& driver = *gpu()->driver;
  driver.check(kernel.launch(launch, nullptr), "launching a check");
  driver.check(driver.cuStreamSynchronize(nullptr), "waiting for a check");
}

std::vector<uint32_t> run_check(const std::string& header, const std::string& entry, std::span<const std::byte> in,
                                size_t out_words, uint32_t threads) {
  struct Params {
    const void* in;
    void* out;
  };
  const auto kernel = kernel_of_tests(header, "hstu::check::" + entry);
  const DeviceBuffer input(in.data(), in.size());
  const std::vector<uint32_t> poison(out_words, 0xffffffffu);
  const DeviceBuffer output(poison.data(), out_words * sizeof(uint32_t));
  Launch launch;
  launch.block[0] = threads;
  launch.emplace<Params>() = {input.data(), output.data()};
  run_check(*kernel, launch);
  return output.read<uint32_t>();
}

}  // namespace hstujit::test
