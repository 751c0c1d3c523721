// Parameters of sort_kv_pairs_* and sort_by_length_*: fixed-width members only, passed by value as the kernel's one
// parameter.
#pragma once

namespace hstu {

struct RankSortParams {
  const void* keys;    // [count]; sort_by_length: offsets, [count + 1]
  const void* values;  // [count]; sort_by_length: none
  void* out_keys;      // [count]; sort_by_length: none
  void* out_values;    // [count]; sort_by_length: the numbers of the sequences
  // A key counts as ((key & mask) ^ flip), signed.
  long long mask, flip;
  int count;
  int reserved;
};
static_assert(sizeof(RankSortParams) == 56, "host and device disagree about RankSortParams");

}  // namespace hstu
