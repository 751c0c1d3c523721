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
// Absolute error 2^-22 near 1, relative error 2^-22 elsewhere; -inf for 0.
HSTU_PRIM float lg2_approx(float x) {
  float r;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
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

// a / b rounded once, without flushing denormals, whatever the compiler's options.
HSTU_PRIM float div_exact(float a, float b) {
  float r;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

// The larger magnitude of two; NaN if one of them is.
HSTU_PRIM float max_magnitude(float a, float b) {
  float r;
  asm("{\n .reg .f32 p, q;\n abs.f32 p, %1;\n abs.f32 q, %2;\n max.NaN.f32 %0, p, q;\n}" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

// The larger of each of two packed pairs; NaN if one of them is.
template <class Element>
HSTU_PRIM u32 max2(u32 a, u32 b);
template <>
HSTU_PRIM u32 max2<bf16>(u32 a, u32 b) {
  u32 r;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
template <>
HSTU_PRIM u32 max2<f16>(u32 a, u32 b) {
  u32 r;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Of each of two packed pairs the one of larger magnitude, its sign lost; NaN if one of them is. sm_90.
template <class Element>
HSTU_PRIM u32 max_magnitude2(u32 a, u32 b);
template <>
HSTU_PRIM u32 max_magnitude2<bf16>(u32 a, u32 b) {
  u32 r;
  asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
template <>
HSTU_PRIM u32 max_magnitude2<f16>(u32 a, u32 b) {
  u32 r;
  asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Products of packed pairs of bf16. sm_90.
HSTU_PRIM u32 mul2_bf16(u32 a, u32 b) {
  u32 r;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

}  // namespace hstu::prim
