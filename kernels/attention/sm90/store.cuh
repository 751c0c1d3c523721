// The rows of O on their way out of a consumer warpgroup of the sm_90 attention kernels.
#pragma once
#include "attention/sm90/warpgroup.cuh"
#include "tile/part_moments.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu::attn90 {

// Writes columns of the warp's rows of O, scaled, of those that `rows` has: as many panels of 64 as are staged at once,
// from number `panel` on. They are stored while others are computed. x: the thread's accumulators of these columns.
// first_row: the tile's first. scale: that of the thread's row and of the eighth behind it.
template <class Element, class Config, class Tile, class Rows>
HSTU_PRIM void store_panels(const Warpgroup<Config, Tile>& wg, const float* x, int panel, const float (&scale)[2],
                            const Rows& rows, int first_row, int head) {
  using T = Shape<Config>;
  const tile::WarpBoxes<T::kOBoxes> boxes(wg.warp_staging());
  boxes.wait_for_all();
#pragma unroll
  for (int n = 0; n < 4 * T::kOBoxes; ++n, x += 8) {
    if (panel * 4 + n >= T::kColsV / 16) continue;
    const u32 word[4] = {
        prim::pack2<Element>(x[0] * scale[0], x[1] * scale[0]), prim::pack2<Element>(x[2] * scale[1], x[3] * scale[1]),
        prim::pack2<Element>(x[4] * scale[0], x[5] * scale[0]), prim::pack2<Element>(x[6] * scale[1], x[7] * scale[1])};
    boxes.write(n / 4, n % 4, word);
  }
  boxes.template store_line<T::kOBoxes>(wg.out, rows, panel * 64, first_row + wg.warp_row(), head);
}

// All columns.
template <class Element, class Config, class Tile, class Rows>
HSTU_PRIM void store_rows(const Warpgroup<Config, Tile>& wg, const float (&o)[Shape<Config>::kColsV / 2],
                          const float (&scale)[2], const Rows& rows, int first_row, int head) {
  using T = Shape<Config>;
#pragma unroll
  for (int panel = 0; panel < T::kOPanels; panel += T::kOBoxes)
    store_panels<Element>(wg, o + panel * 32, panel, scale, rows, first_row, head);
}

// Statistics of the thread's row of O and of the eighth behind it, as store_rows() rounds them; a quad of lanes has
// the same ones.
template <class Element, class Config>
HSTU_PRIM void row_moments(tile::PartMoments (&moments)[2], const float (&o)[Shape<Config>::kColsV / 2],
                           const float (&scale)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    tile::PivotMoments sums;
#pragma unroll
    for (int n = 0; n < Config::kHeadDimV / 8; ++n) {
      const u32 word = prim::pack2<Element>(o[4 * n + 2 * half] * scale[half], o[4 * n + 2 * half + 1] * scale[half]);
      if (n == 0) sums.start(prim::unpack_lo<Element>(word));
      sums.add(prim::unpack_lo<Element>(word));
      sums.add(prim::unpack_hi<Element>(word));
    }
    moments[half] = sums.finish(1.0f / Config::kHeadDimV);
  }
}

// Once the last tile is written: shared memory is to live until it has been read.
template <class Config, class Tile>
HSTU_PRIM void finish_stores(const Warpgroup<Config, Tile>&) {
  tile::WarpBoxes<Shape<Config>::kOBoxes>::wait_for_all();
}

}  // namespace hstu::attn90
