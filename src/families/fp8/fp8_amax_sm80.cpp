// fp8_amax_sm80: amax of each of the parts of a matrix, bound by memory, kernels/fp8/fp8_amax_sm80.cuh.
#include "families/families.hpp"
#include "fp8/fp8_amax.h"
#include "operators/fp8/fp8_amax.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kAccesses, kKnobCount };

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kAccessesValues[] = {1, 2, 4, 8};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of each of the 256 blocks"},
    {"accesses", kAccessesValues, "loads in flight a thread"},
};

bool enough_in_flight(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreads] * c[kAccesses] >= 1024 && c[kThreads] * c[kAccesses] <= 4096;
}

constexpr Rule kRules[] = {
    {"a block has 16 to 64 KiB in flight", enough_in_flight},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem&, const DeviceFacts&) { return {{512, 4}}; }

Resources resources(const Problem&, const Config& c) {
  return {c[kThreads], c[kThreads] / 32 * 4, 12 + 4 * c[kAccesses], 1};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[fp8_amax::kDtype])));
  text.constant("kColumns", p[fp8_amax::kColumns]);
  text.constant("kVector", p[fp8_amax::kVector]);
  text.flag("kDense", p[fp8_amax::kDense] != 0);
  text.constant("kThreads", c[kThreads]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem&, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_fp8_amax_args*>(args);
  launch.grid[0] = HSTU_FP8_AMAX_PARTS;
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(c[kThreads] / 32 * 4);
  auto& p = launch.emplace<hstu::Fp8AmaxParams>();
  p.x = a.x.data;
  p.amax = static_cast<float*>(a.amax.data);
  p.rows = a.x.shape[0];
  p.x_row_stride = a.x.stride[0];
  p.part = 16 * ceil_div(a.x.shape[0] * a.x.shape[1], 16 * HSTU_FP8_AMAX_PARTS);
}

}  // namespace

const Family kFp8AmaxSm80 = {
    .name = "fp8_amax_sm80",
    .room = "fp8",
    .op = Op::fp8_amax,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "fp8_amax_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
