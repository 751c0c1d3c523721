// Yardsticks: a device copy and the vendor's matrix product, so that figures of different days can be compared.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/cublaslt.hpp"
#include "hstu_tune/messages.hpp"
#include "support/error.hpp"
#include "support/json.hpp"
#include "workload/memory.hpp"
#include "workload/stack.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit::tool {
namespace {

/// 0 where the library is missing or refuses, which is said.
double product_tflops(BenchRun& bench) try {
  constexpr int64_t kSize = 8192;
  Stopwatch watch(bench.driver(), bench.context().device_context());  // first: the product is for the current device
  const auto product = CublasLtProduct::create(HSTU_DTYPE_BF16, kSize, kSize, kSize, false);
  if (!product) return 0;
  Calls operands;
  const auto operand = [&](const char* name) {
    operands.buffers.push_back({name, HSTU_DTYPE_BF16, kSize * kSize, Buffer::Content::random, 0, 1, {}});
  };
  operand("x");
  operand("w");
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const Stack filled(operands, *memory, 1);  // random data: zeros would let the chip run faster than it does at work
  void* z = memory->allocate(kSize * kSize * 2);
  void* workspace = memory->allocate(CublasLtProduct::kWorkspaceBytes);
  const Timing timing = watch.cold(
      [&](CUstream stream) { product->run(filled.base("x"), filled.base("w"), nullptr, z, workspace, stream); });
  return 2.0 * kSize * kSize * kSize / static_cast<double>(timing.median_ns) * 1e-3;
} catch (const Error& error) {
  complain("no cuBLASLt yardstick: {}", error.message());
  return 0;
}

}  // namespace

double measure_copy(BenchRun& bench, size_t bytes) {
  const size_t half = std::max<size_t>(bytes / 2, 1);
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const auto from = reinterpret_cast<CUdeviceptr>(memory->allocate(half));
  const auto to = reinterpret_cast<CUdeviceptr>(memory->allocate(half));
  Stopwatch watch(bench.driver(), bench.context().device_context());
  const Timing timing = watch.cold([&](CUstream stream) {
    bench.driver().check(bench.driver().cuMemcpyDtoDAsync(to, from, half, stream), "copying");
  });
  return 2.0 * static_cast<double>(half) / static_cast<double>(timing.median_ns);
}

Yardsticks measure_yardsticks(BenchRun& bench) {
  constexpr size_t kBytes = size_t{1} << 30;
  const Yardsticks yardsticks{measure_copy(bench, kBytes), product_tflops(bench)};
  fmt::print("yardsticks: device copy {:.0f} GB/s; ", yardsticks.copy_gbs);
  if (yardsticks.product_tflops > 0)
    fmt::print("cuBLASLt 8192 x 8192 x 8192 bf16 {:.0f} TFLOP/s\n", yardsticks.product_tflops);
  else
    fmt::print("no cuBLASLt\n");
  bench.report["yardsticks"] = {{"copy_gbs", yardsticks.copy_gbs}, {"product_tflops", yardsticks.product_tflops}};
  return yardsticks;
}

}  // namespace hstujit::tool
