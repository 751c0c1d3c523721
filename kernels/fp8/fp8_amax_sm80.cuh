// amax, the largest magnitude, of each of 256 equal parts of a matrix, counted element after element along its rows,
// sm_80 generation: the first of the two launches that quantise a tensor under one dynamic scale. Which block reads
// what is fixed, so nothing is added up across blocks and nothing needs to be zero beforehand.
//
// Block i reads part i, kAccesses chunks of kVector neighbouring elements a thread at a time. NaN is greater than
// infinity. Elements past the end count as 0.
//
// Shared memory  amax of each warp
//
// Config, problem facts
//   Element     float, f16 or bf16
//   kColumns    of x
//   kVector     elements an access: divides row length, address and row stride
//   kDense      rows lie one behind another
// Config, knobs
//   kThreads, kAccesses
#pragma once
#include "fp8/fp8_amax.h"
#include "tile/fp8_row.cuh"

namespace hstu {

template <class Config>
constexpr int fp8_amax_sm80_smem_bytes = Config::kThreads / 32 * 4;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    fp8_amax_sm80(const __grid_constant__ Fp8AmaxParams p) {
  using Element = typename Config::Element;
  constexpr int kVector = Config::kVector, kStep = Config::kThreads * kVector;
  const Element* x = static_cast<const Element*>(p.x);
  const i64 begin = blockIdx.x * p.part, end = min(begin + p.part, p.rows * Config::kColumns);
  tile::Amax<Element> amax;
  for (i64 at = begin + threadIdx.x * kVector; at < end; at += Config::kAccesses * kStep) {
    tile::RowPack<Element, kVector> pack[Config::kAccesses];
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a) {
      const i64 element = at + a * kStep;
      i64 offset = element;
      if constexpr (!Config::kDense) {
        const i64 row = element / (Config::kColumns > 0 ? Config::kColumns : 1);
        offset = row * p.x_row_stride + (element - row * Config::kColumns);
      }
      if (element < end)
        tile::load(pack[a], x + offset);
      else
        tile::clear(pack[a]);
    }
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a) amax.add(pack[a]);
  }

  extern __shared__ __align__(16) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u32 of_warp = prim::lane_max(amax.value());
  if (lane == 0) prim::st_shared(smem + 4 * warp, of_warp);
  __syncthreads();
  if (warp != 0) return;
  const u32 of_block = prim::lane_max(lane < Config::kThreads / 32 ? prim::ld_shared4(smem + 4 * lane) : 0);
  if (lane == 0) p.amax[blockIdx.x] = __uint_as_float(of_block);
}

}  // namespace hstu
