// build_sla_func_sm80: the intervals of semi-local attention, kernels/attention/build_sla_func_sm80.cuh.
#include "attention/sla_intervals.h"
#include "families/families.hpp"
#include "operators/attention/build_sla_func.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kThreads, kKnobCount };

constexpr int32_t kThreadsValues[] = {64, 128, 256};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block; its warps work by themselves"},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem&, const DeviceFacts&) {
  Config c;
  c[kThreads] = 128;
  return c;
}

Resources resources(const Problem&, const Config& c) { return {.threads = c[kThreads], .registers = 24}; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto target = static_cast<hstu_dtype>(p[sla::kTargetDtype]);
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[sla::kOffsetDtype])));
  text.type("Target", device_type(target == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : target));
  text.flag("kHasTargets", target != HSTU_DTYPE_NONE);
  text.constant("kThreads", c[kThreads]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem&, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_build_sla_func_args*>(args);
  const int64_t rows = a.intervals.shape[2];
  const bool nothing = a.intervals.shape[0] == 0 || a.seq_offsets.shape[0] == 1;
  launch.grid[0] = static_cast<uint32_t>(nothing ? 0 : ceil_div(rows, c[kThreads]));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  auto& p = launch.emplace<hstu::SlaIntervalsParams>();
  p.intervals = static_cast<int*>(a.intervals.data);
  p.seq_offsets = a.seq_offsets.data;
  p.num_targets = a.num_targets.data;
  p.head_stride = a.intervals.stride[0];
  p.bound_stride = a.intervals.stride[1];
  p.rows = rows;
  p.heads = static_cast<int>(a.intervals.shape[0]);
  p.batch = static_cast<int>(a.seq_offsets.shape[0] - 1);
  p.last_keys = static_cast<int>(a.last_keys);
  p.first_keys = static_cast<int>(std::max(a.first_keys, a.contextual_seq_len));
}

}  // namespace

const Family kBuildSlaFuncSm80 = {
    .name = "build_sla_func_sm80",
    .room = "attention",
    .op = Op::build_sla_func,
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
