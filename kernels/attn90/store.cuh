// The rows of O on their way out of a consumer warpgroup of the sm_90 attention kernels.
#pragma once
#include "attn90/warpgroup.cuh"
#include "params/attn_fwd.h"
#include "prim/memory.cuh"
#include "prim/stmatrix.cuh"

namespace hstu::attn90 {

// Writes the rows of O that exist, scaled, to `out`, the place of the tile's row 0, which is row `first` of `length`; a
// warp stages its own 16, 64 columns at a time. scale: that of the thread's row and of the eighth behind it.
template <class Element, class Config, class Tile>
HSTU_PRIM void store_rows(const Warpgroup<Config, Tile>& wg, const float (&o)[Shape<Config>::kColsV / 2],
                          const float (&scale)[2], Element* out, i64 out_row_stride, int first, int length) {
  using T = Shape<Config>;
  constexpr int kPanels = (Config::kHeadDimV + 63) / 64;
  const int lane = prim::lane_id(), warp_row = wg.group * 64 + threadIdx.x % 128 / 32 * 16;
  const u32 staging = wg.warp_staging();
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel) {
    __syncwarp();  // what was staged before has been read
#pragma unroll
    for (int n = 0; n < 4 && panel * 4 + n < T::kColsV / 16; ++n) {
      const float* x = o + (panel * 4 + n) * 8;
      const u32 row = lane % 16, chunk = (n * 2 + lane / 16) ^ (row & 7);
      prim::stmatrix_x4(staging + row * 128 + chunk * 16, prim::pack2<Element>(x[0] * scale[0], x[1] * scale[0]),
                        prim::pack2<Element>(x[2] * scale[1], x[3] * scale[1]),
                        prim::pack2<Element>(x[4] * scale[0], x[5] * scale[0]),
                        prim::pack2<Element>(x[6] * scale[1], x[7] * scale[1]));
    }
    __syncwarp();
    constexpr int kChunks = 8;  // of 16 bytes in a row of the panel
#pragma unroll
    for (int i = 0; i < 16 * kChunks / 32; ++i) {
      const int row = i * 4 + lane / kChunks, column = lane % kChunks;
      if (first + warp_row + row < length && panel * kChunks + column < Config::kHeadDimV / 8)
        prim::st_global(out + (warp_row + row) * out_row_stride + (panel * kChunks + column) * 8,
                        prim::ld_shared(staging + row * 128 + (column ^ (row & 7)) * 16));
    }
  }
}

}  // namespace hstu::attn90
