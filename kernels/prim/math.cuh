// Approximate special functions, one MUFU operation each (16 results a clock and SM on sm_80 to sm_90).
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// Relative error about 2^-11; exactly +-1 for large |x|.
HSTU_PRIM float tanh_approx(float x) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
HSTU_PRIM float ex2_approx(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
HSTU_PRIM float rcp_approx(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
// Relative error about 2^-23; denormals count as zero, so an argument needs a positive floor.
HSTU_PRIM float rsqrt_approx(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

}  // namespace hstu::prim
