// How many of a sequence's rows are targets.
#pragma once
#include "prim/types.cuh"

namespace hstu::tile {

// Of a sequence of `rows` rows. More targets than rows are all of them, fewer than none are none: limited before
// anything is added to them, since they may be as many as their type counts.
template <class Target>
HSTU_PRIM i64 target_rows(const void* num_targets, int sequence, i64 rows) {
  return max(min(i64{static_cast<const Target*>(num_targets)[sequence]}, rows), i64{0});
}

}  // namespace hstu::tile
