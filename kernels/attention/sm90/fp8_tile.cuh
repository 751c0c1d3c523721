// Tiles of query rows of HSTU attention in FP8: with per-block scales (of 128 rows) they lie along their blocks.
#pragma once
#include "attention/sm90/fp8_factors.cuh"
#include "attention/sm90/hstu_tile.cuh"
#include "attention/sm90/interval_tile.cuh"

namespace hstu::attn90 {

// Where the rows of a sequence lie, of whose queries a tile may have those before `end` only.
struct Fp8Rows : HstuRows {
  int end;
  HSTU_PRIM Fp8Rows(const HstuRows& all, int end) : HstuRows(all), end(end) {}
  HSTU_PRIM tile::JaggedBox queries() const { return tile::JaggedBox(start, end); }
};

// With per-block scales a tile's rows are those of a tile of the tensor, as far as they belong to the sequence.
template <class Config, class Tile>
HSTU_PRIM Fp8Rows fp8_rows(const Tile& tile, const HstuRows& all) {
  constexpr int kBlockM = Shape<Config>::kBlockM;
  static_assert(variant::kScaleRows % kBlockM == 0, "a tile's rows have one scale");
  if constexpr (!variant::block_scales<Config>(0)) return {all, all.length};
  const int before = static_cast<int>(tile.start + tile.first_row) & (kBlockM - 1);
  return {all, variant::min_int(tile.first_row - before + kBlockM, all.length)};
}

// Beside what all tiles have: factors; view(group), what a warpgroup's rows see of parts of blocks; keys_begin() and
// keys_end(), keys of the first and the last 128 rows that have keys which the tile sees.
template <class Config>
struct Fp8Tile : HstuTile<Config> {
  TileFactors factors;
  variant::RowsView<Config> views[Config::kConsumers];

  HSTU_PRIM Fp8Rows rows() const { return fp8_rows<Config>(*this, HstuTile<Config>::rows()); }
  HSTU_PRIM const variant::RowsView<Config>& view(int group) const { return views[group]; }
  HSTU_PRIM int keys_begin() const {
    return this->plan.blocks > this->plan.upper_blocks ? this->plan.lower_begin : this->plan.upper_begin;
  }
  HSTU_PRIM int keys_end() const {
    if (Config::kCausal && !(Config::kContextual && this->mask.is_contextual(this->first_row)))
      return this->first_row + 1;
    return variant::min_int(this->plan.key_begin(this->plan.blocks - 1) + Config::kBlockN, this->mask.length);
  }
};

// The same under a mask given as data.
template <class Config>
struct Fp8IntervalTile : IntervalTile<Config> {
  TileFactors factors;

  HSTU_PRIM Fp8Rows rows() const { return fp8_rows<Config>(*this, IntervalTile<Config>::rows()); }
  HSTU_PRIM RunsView<Config> view(int group) const { return {this->seen.extremes[group]}; }
  HSTU_PRIM int keys_begin() const { return this->plan.blocks > 0 ? this->plan.key_begin(0) : 0; }
  HSTU_PRIM int keys_end() const {
    if (this->plan.blocks == 0) return 1;
    return variant::min_int(this->plan.key_begin(this->plan.blocks - 1) + Config::kBlockN, this->mask.length);
  }
};

template <class Config>
struct Fp8Place : HstuPlace<Config> {
  enum : bool { kByWarp = variant::block_scales<Config>(0) };
  const AttnFwdParams& p;

  HSTU_PRIM Fp8Place(const AttnFwdParams& p, u32 index) : HstuPlace<Config>(p, index), p(p) {}
  HSTU_PRIM Fp8Place& operator=(const Fp8Place& other) {  // of the same p
    HstuPlace<Config>::operator=(other);
    return *this;
  }
  HSTU_PRIM void describe(const variant::RowTilePlan<Config>& plan, Fp8Tile<Config>& tile) const {
    HstuPlace<Config>::describe(plan, tile);
#pragma unroll 1
    for (int group = 0; group < Config::kConsumers; ++group)
      tile.views[group] = SeenBlocks<Config>::view_of(this->mask, this->begin(), group);
    if constexpr (!kByWarp) tile.factors = factors_of_pair<Config>(p, this->seq, this->head);
  }
  // By all lanes.
  HSTU_PRIM void describe(const AttnFwdParams& p, Fp8Tile<Config>& tile) const {
    if (prim::lane_id() == 0) describe(this->plan(), tile);
    __syncwarp();
    const TileFactors all = factors_of_blocks<Config>(p, tile);
    if (prim::lane_id() == 0) tile.factors = all;
  }
};

template <class Config>
struct Fp8IntervalPlace : IntervalPlace<Config> {
  HSTU_PRIM Fp8IntervalPlace(const AttnFwdParams& p, u32 index) : IntervalPlace<Config>(p, index) {}
  HSTU_PRIM void describe(const AttnFwdParams& p, Fp8IntervalTile<Config>& tile) const {
    IntervalPlace<Config>::describe(p, tile);
    __syncwarp();
    TileFactors all;
    if constexpr (variant::block_scales<Config>(0))
      all = factors_of_blocks<Config>(p, tile);
    else
      all = factors_of_pair<Config>(p, this->seq, this->head);
    if (prim::lane_id() == 0) tile.factors = all;
  }
};

}  // namespace hstu::attn90
