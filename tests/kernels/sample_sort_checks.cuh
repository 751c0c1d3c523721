// Device side of sample_sort_test.cpp: blocks with so little room that each sorts its range in many turns.
#pragma once
#include "jagged/sort_kv_parts_sm80.cuh"

namespace hstu::check {

struct SmallRooms {
  using Key = i32;
  enum : int { kValueBytes = 4, kThreads = 64, kRoom = 64, kMinBlocks = 1 };
};

}  // namespace hstu::check
