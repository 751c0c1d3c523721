// Warps with different roles in one kernel (sm_90), and kernels that overlap. PTX ISA "setmaxnreg", "elect.sync",
// "griddepcontrol".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// True in one lane of a converged warp.
HSTU_PRIM bool elect_one() {
  u32 r;
  asm volatile("{\n .reg .pred p;\n elect.sync _|p, 0xffffffff;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(r));
  return r != 0;
}

// Registers a thread from here on, a multiple of 8 from 24 to 256: by whole warpgroups, once, at the head of a role
// (sm_90a, and __launch_bounds__(threads, 1)). alloc waits until others have released enough.
template <int N>
HSTU_PRIM void warpgroup_reg_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
HSTU_PRIM void warpgroup_reg_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

// Programmatic dependent launch: before touching what the kernel before wrote or still reads; and when the next kernel
// may start. Without the launch attribute both do nothing.
HSTU_PRIM void grid_dependency_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
HSTU_PRIM void grid_launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

}  // namespace hstu::prim
