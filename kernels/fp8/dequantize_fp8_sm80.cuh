// x = q descale, FP8 to f32 or a 16-bit type, sm_80 generation; scales as quantize_fp8 writes them.
//
// Each thread widens kAccesses chunks of kVector neighbouring elements, consecutive chunks in consecutive threads; a
// chunk never crosses the end of a row or of a unit, so it has one scale. The product is f32, rounded once more at the
// store.
//
// Config, problem facts
//   Element, Fp8     float, f16 or bf16; e4m3 or e5m2
//   kScaling         kPerTensor, kPerRow, kPerGroup, kPerBlock (tile/fp8_row.cuh)
//   kColumns         of q
//   kVector          elements an access: divides row length, addresses and row strides; at most 32 bytes of x
// Config, knobs
//   kThreads, kAccesses
#pragma once
#include "fp8/dequantize_fp8.h"
#include "tile/fp8_row.cuh"

namespace hstu {

// The scale of the chunk at a row and column.
template <class Config>
HSTU_PRIM float dequantize_scale(const DequantizeFp8Params& p, i64 row, int column) {
  const float* scale = p.descale;
  if constexpr (Config::kScaling == tile::kPerRow || Config::kScaling == tile::kPerGroup)
    scale += row * p.descale_row_stride;
  if constexpr (Config::kScaling == tile::kPerBlock) scale += row / tile::kScaleSpan * p.descale_row_stride;
  if constexpr (Config::kScaling == tile::kPerGroup || Config::kScaling == tile::kPerBlock)
    scale += column / tile::kScaleSpan * p.descale_column_stride;
  return *scale;
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    dequantize_fp8_sm80(const __grid_constant__ DequantizeFp8Params p) {
  using Element = typename Config::Element;
  using Fp8 = typename Config::Fp8;
  constexpr int kVector = Config::kVector, kAccesses = Config::kAccesses, kChunksPerRow = Config::kColumns / kVector;
  static_assert(Config::kColumns > 0, "a matrix without columns launches nothing");
  static_assert(Config::kColumns % kVector == 0 && tile::kScaleSpan % kVector == 0,
                "an access must not cross the end of a unit");
  const i64 chunks = p.rows * kChunksPerRow;
  const i64 first = static_cast<i64>(blockIdx.x) * (kAccesses * Config::kThreads) + threadIdx.x;
  tile::RowPack<Fp8, kVector> held[kAccesses];
  float scale[kAccesses];
  Element* x[kAccesses];
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    const i64 chunk = first + a * Config::kThreads, row = chunk / kChunksPerRow;
    const int column = static_cast<int>(chunk - row * kChunksPerRow) * kVector;
    x[a] = static_cast<Element*>(p.x) + row * p.x_row_stride + column;
    if (chunk >= chunks) continue;
    tile::load(held[a], static_cast<const Fp8*>(p.q) + row * p.q_row_stride + column);
    scale[a] = dequantize_scale<Config>(p, row, column);
  }
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    if (first + a * Config::kThreads >= chunks) continue;
    float value[kVector];
    tile::unpack_fp8(value, held[a]);
#pragma unroll
    for (float& v : value) v *= scale[a];
    tile::RowPack<Element, kVector> pack;
    tile::pack(pack, value);
    tile::store(x[a], pack);
  }
}

}  // namespace hstu
