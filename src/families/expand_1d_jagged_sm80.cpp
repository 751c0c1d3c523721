// expand_1d_jagged_sm80: a jagged vector as rows of one length, kernels/expand_1d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "params/jagged_lengths.h"
#include "problem/jagged_fields.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kKnobCount };

constexpr int32_t kThreadsValues[] = {64, 128, 256};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which stays within a row of out"},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts&) {
  Config c;
  c[kThreads] = p[expand::kMaxLen] <= 64 ? 64 : p[expand::kMaxLen] <= 128 ? 128 : 256;
  return c;
}

Resources resources(const Problem&, const Config& c) { return {.threads = c[kThreads], .registers = 16}; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[expand::kOffsetDtype])));
  text.constant("kElementBytes", p[expand::kElementBytes]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem&, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_expand_1d_jagged_to_dense_args*>(args);
  auto& p = launch.emplace<hstu::ExpandParams>();
  p.values = a.values.data;
  p.offsets = a.offsets.data;
  p.out = a.out.data;
  p.max_len = a.out.shape[1];
  p.out_row_stride = a.out.stride[0];
  p.row_blocks = static_cast<unsigned>((p.max_len + c[kThreads] - 1) / c[kThreads]);
  launch.grid[0] = static_cast<uint32_t>(a.out.shape[0] * p.row_blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
}

}  // namespace

const Family kExpand1dJaggedSm80 = {
    .name = "expand_1d_jagged_sm80",
    .op = Op::expand_1d_jagged_to_dense,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
