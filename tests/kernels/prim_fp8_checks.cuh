// Device side of prim_fp8_test.cpp: conversions of FP8, maxima, exact quotients, tf32 products. As prim_checks.cuh.
#pragma once
#include "prim/fp8.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"

namespace hstu::check {

struct Params {
  const void* in;
  void* out;
};

// in: pairs of floats; out: a pair packed, and its halves widened.
template <class Fp8>
__global__ void fp8(const Params p) {
  const float* x = static_cast<const float*>(p.in) + 2 * threadIdx.x;
  u32* out = static_cast<u32*>(p.out) + 3 * threadIdx.x;
  out[0] = prim::pack2_fp8<Fp8>(x[0], x[1]);
  const u32 pair = prim::unpack2_fp8<Fp8>(out[0]);
  out[1] = __float_as_uint(prim::unpack_lo<f16>(pair));
  out[2] = __float_as_uint(prim::unpack_hi<f16>(pair));
}

// in: words a, b; out: greatest of groups of 4 and of 32 lanes, the greater of two pairs of bf16 and of f16, a byte
// copied, a pair through shared memory.
__global__ void maxima(const Params p) {
  __shared__ __align__(8) u32 smem[64];
  const u32* in = static_cast<const u32*>(p.in) + 2 * threadIdx.x;
  u32* out = static_cast<u32*>(p.out) + 7 * threadIdx.x;
  out[0] = prim::lane_max<4>(in[0]);
  out[1] = prim::lane_max<32>(in[0]);
  out[2] = prim::max2<bf16>(in[0], in[1]);
  out[3] = prim::max2<f16>(in[0], in[1]);
  out[4] = 0;
  prim::st_global1(out + 4, prim::ld_global1(in));
  const u32 slot = prim::smem_addr(smem + 2 * threadIdx.x);
  prim::st_shared(slot, prim::Pair{{in[0], in[1]}});
  const prim::Pair back = prim::ld_shared8(slot);
  out[5] = back.word[0];
  out[6] = back.word[1];
}

// in: floats a, b; out: a / b, a as tf32.
__global__ void quotients(const Params p) {
  const float* in = static_cast<const float*>(p.in) + 2 * threadIdx.x;
  u32* out = static_cast<u32*>(p.out) + 2 * threadIdx.x;
  out[0] = __float_as_uint(prim::div_exact(in[0], in[1]));
  out[1] = prim::round_tf32(in[0]);
}

// One warp. in: A [16][8], B [8][8] (n rows of k); out: D [16][8] = 1 + A Bt.
__global__ void mma_tf32(const Params p) {
  const u32* a = static_cast<const u32*>(p.in);
  const u32* b = a + 16 * 8;
  float* out = static_cast<float*>(p.out);
  const u32 g = prim::lane_id() / 4, t = prim::lane_id() % 4;
  const u32 fragment[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]};
  float d[4] = {1, 1, 1, 1};
  prim::mma_m16n8k8_tf32(d, fragment, b[g * 8 + t], b[g * 8 + t + 4]);
  out[g * 8 + 2 * t] = d[0];
  out[g * 8 + 2 * t + 1] = d[1];
  out[(g + 8) * 8 + 2 * t] = d[2];
  out[(g + 8) * 8 + 2 * t + 1] = d[3];
}

}  // namespace hstu::check
