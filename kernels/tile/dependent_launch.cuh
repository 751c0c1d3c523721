// Kernels that start while the one in front still runs (sm_90; elsewhere none does). A family with dependent_launch is
// launched with the attribute that allows it, so its kernel touches what an earlier one may write, or still read,
// behind the wait alone. Every block must come through it: a kernel's end then means that all before it have ended as
// well, also for a kernel two further on that waits for this one only.
#pragma once
#include "prim/warpgroup.cuh"

namespace hstu::tile {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
enum : bool { kStartsEarly = true };
#else
enum : bool { kStartsEarly = false };
#endif

// By all threads, once. The next kernel's blocks may come to the SMs from here on, where there is room, to wait there.
// Ahead of it: barriers in shared memory, and prefetches to L2, which show no thread anything.
HSTU_PRIM void wait_for_kernels_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  prim::grid_launch_dependents();
  prim::grid_dependency_wait();
#endif
}

}  // namespace hstu::tile
