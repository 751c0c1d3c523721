// Ordinary accesses against those of TMA and wgmma (sm_90), which pass through another proxy. PTX ISA "fence.proxy".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// By each thread that wrote shared memory, then a barrier, before TMA stores it or wgmma reads it.
HSTU_PRIM void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace hstu::prim
