// Parameters of build_sla_func_*: fixed-width members only, passed by value as the kernel's one parameter. Strides are
// in elements.
#pragma once

namespace hstu {

struct SlaIntervalsParams {
  int* intervals;           // [heads, 3, rows]
  const void* seq_offsets;  // [batch + 1]
  const void* num_targets;  // [batch]; read only when Config::kHasTargets
  long long head_stride, bound_stride;
  long long rows;
  int heads;
  int batch;
  int last_keys, first_keys;
};
static_assert(sizeof(SlaIntervalsParams) == 64, "host and device disagree about SlaIntervalsParams");

}  // namespace hstu
