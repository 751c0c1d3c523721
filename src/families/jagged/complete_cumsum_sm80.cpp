// complete_cumsum_sm80: prefix sums of short vectors, kernels/jagged/complete_cumsum_sm80.cuh.
#include "families/families.hpp"
#include "jagged/jagged_lengths.h"
#include "operators/jagged/complete_cumsum.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kItems, kKnobCount };

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kItemsValues[] = {1, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "one block for a batch; of several, each reads all values before its own"},
    {"items", kItemsValues, "elements a thread: fewer blocks"},
};

bool covers(const Problem& p, const DeviceFacts&) { return p[cumsum::kCount] <= cumsum::kMostByBlocks; }

/// Measured on an H100, us with 1024 threads and so: 1024 elements 5.6, 4.5; 4096 6.7, 5.6; 8192 of i64 9.4, 6.3; 16384
/// of i64 with 4 elements a thread 7.3, so 6.9; 32768 8.6, 7.8; on an H200 8192 7.2, 6.0.
Config default_config(const Problem& p, const DeviceFacts&) {
  Config c;
  c[kThreads] = p[cumsum::kCount] <= 8192 ? 256 : 512;
  c[kItems] = p[cumsum::kCount] > 256 && p[cumsum::kCount] <= 8192 ? 4 : 1;
  return c;
}

int smem_bytes(const Config& c) { return c[kThreads] / 32 * 8; }

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(c), .registers = 24};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[cumsum::kDtype]);
  text.type("Value", device_type(dtype));
  text.type("Result", device_type(static_cast<hstu_dtype>(p[cumsum::kOutDtype])));
  text.type("Sum", dtype == HSTU_DTYPE_F32 ? "double" : "i64");
  text.constant("kThreads", c[kThreads]);
  text.constant("kItems", c[kItems]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem&, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_complete_cumsum_args*>(args);
  const int64_t count = a.values.shape[0], per_block = int64_t{c[kThreads]} * c[kItems];
  launch.grid[0] = static_cast<uint32_t>(count == 0 ? 1 : ceil_div(count, per_block));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(c));
  auto& p = launch.emplace<hstu::CumsumParams>();
  p.values = a.values.data;
  p.out = a.out.data;
  p.count = count;
}

}  // namespace

const Family kCompleteCumsumSm80 = {
    .name = "complete_cumsum_sm80",
    .room = "jagged",
    .op = Op::complete_cumsum,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "complete_cumsum_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
