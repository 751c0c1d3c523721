// Tiles of query rows of HSTU attention in FP8: with scales of 128 rows they lie along these.
#pragma once
#include "attn90/hstu_tile.cuh"
#include "variant/scale_blocks.cuh"

namespace hstu::attn90 {

// Where the rows of a sequence lie, of whose queries a tile may have those before `end` only.
struct Fp8Rows : HstuRows {
  int end;
  HSTU_PRIM Fp8Rows(const HstuRows& all, int end) : HstuRows(all), end(end) {}
  HSTU_PRIM tile::JaggedBox queries() const { return tile::JaggedBox(start, end); }
};

template <class Config>
struct Fp8Tile : HstuTile<Config> {
  variant::RowsView<Config> views[Config::kConsumers];  // what each warpgroup's rows see of parts of blocks

  // With scales of 128 rows a tile's are those of a tile of the tensor, as far as they belong to the sequence.
  HSTU_PRIM Fp8Rows rows() const {
    constexpr int kBlockM = Shape<Config>::kBlockM;
    static_assert(variant::kScaleRows % kBlockM == 0, "a tile's rows have one scale");
    const int length = this->mask.length;
    if constexpr (!variant::block_scales<Config>(0)) return {HstuTile<Config>::rows(), length};
    const int before = static_cast<int>(this->start + this->first_row) & (kBlockM - 1);
    return {HstuTile<Config>::rows(), variant::min_int(this->first_row - before + kBlockM, length)};
  }
};

template <class Config>
struct Fp8Place : HstuPlace<Config> {
  HSTU_PRIM Fp8Place(const AttnFwdParams& p, u32 index) : HstuPlace<Config>(p, index) {}

  HSTU_PRIM void describe(const variant::RowTilePlan<Config>& plan, Fp8Tile<Config>& tile) const {
    HstuPlace<Config>::describe(plan, tile);
#pragma unroll 1
    for (int group = 0; group < Config::kConsumers; ++group)
      tile.views[group] = SeenBlocks<Config>::view_of(this->mask, this->begin(), group);
  }
};

}  // namespace hstu::attn90
