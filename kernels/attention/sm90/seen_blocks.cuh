// What the rows of each consumer warpgroup see of the key blocks of a tile: found once, by the warp that describes
// tiles, while the warpgroups are busy with the tile before. Each of them finding it for itself takes 900 clocks of a
// tile, and asking block by block whether a mask is needed 400 of each (docs/experiments/attention_sm90.md).
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/row_tiles.cuh"
#include "attention/sm90/shape.cuh"
#include "prim/lanes.cuh"

namespace hstu::attn90 {

template <class Config>
struct SeenBlocks {
  // Of the upper range, where there may be one, and of the lower.
  enum : int { kRanges = Config::kHasTargets ? 2 : 1, kLower = kRanges - 1 };
  variant::BlockRange of[Config::kConsumers][kRanges];

  // Tile: the rest of its description, mask and plan, which has upper(view) and lower(view, zero_is_nothing). position:
  // the tile's first row in the sequence, maybe before it, where nothing is seen. By one thread, one warpgroup after
  // the other and out of shared memory: it has few registers.
  template <class Tile>
  HSTU_PRIM void find(const Tile& tile, int position, bool zero_is_nothing) {
    __syncwarp(1u << prim::lane_id());
#pragma unroll 1
    for (int group = 0; group < Config::kConsumers; ++group) {
      const auto view = view_of(tile.mask, position, group);
      if constexpr (Config::kHasTargets) of[group][0] = tile.plan.upper(view);
      of[group][kLower] = tile.plan.lower(view, zero_is_nothing);
    }
  }
  HSTU_PRIM static variant::RowsView<Config> view_of(const variant::HstuMask<Config>& mask, int position, int group) {
    const int first = position + group * 64;
    return variant::RowsView<Config>(mask, variant::max_int(first, 0), variant::min_int(first + 64, mask.length));
  }
};

}  // namespace hstu::attn90
