// Tiles of query rows of a (sequence, head) of softmax attention: what a tile's roles must know of it, and their order.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/sm90/schedule.cuh"
#include "attention/variant/sequences.cuh"
#include "tile/jagged_map.cuh"

namespace hstu::attn90 {

// Boxes of rows of one sequence out of a dense tensor; its map has columns, rows, heads and sequences.
struct DenseBox {
  int seq;

  HSTU_PRIM void load(u32 dst, const TensorMap* map, u32 barrier, int column, int first_row, int head) const {
    prim::tma_load_4d(dst, map, barrier, column, first_row, head, seq);
  }
  HSTU_PRIM void store(const TensorMap* map, u32 src, int column, int first_row, int head) const {
    prim::tma_store_4d(map, src, column, first_row, head, seq);
  }
};

// Which keys rows see: key j < keys, and j <= i under a causal mask, with i counted from the first key.
template <class Config>
struct FlashMask {
  int keys;

  HSTU_PRIM int limit(int i) const { return Config::kCausal ? variant::min_int(i + 1, keys) : keys; }
  HSTU_PRIM u32 seen_bits(int i, int key) const { return variant::bits_below(limit(i) - key); }
};

// The key blocks of a tile: the last ones, which some row does not see wholly, then those that all rows see.
template <class Config>
struct FlashPlan {
  int full, partial, blocks;

  FlashPlan() = default;
  // Rows [first, last] by their positions.
  HSTU_PRIM FlashPlan(const FlashMask<Config>& mask, int first, int last) {
    constexpr int kBlockN = Config::kBlockN;
    full = variant::max_int(mask.limit(first), 0) / kBlockN;
    blocks = (variant::max_int(mask.limit(last), 0) + kBlockN - 1) / kBlockN;
    partial = blocks - full;
  }
  HSTU_PRIM int key_begin(int block) const {
    return (block < partial ? full + block : block - partial) * Config::kBlockN;
  }
};

template <class Sequences>
struct FlashRows {
  Sequences sequence;

  HSTU_PRIM auto queries() const { return box(sequence); }
  template <class Plan>
  HSTU_PRIM auto keys(const Plan&, int) const {
    return box(sequence);
  }

 private:
  template <class Config>
  HSTU_PRIM static DenseBox box(const variant::DenseSequences<Config>& s) {
    return {s.seq};
  }
  template <class Config>
  HSTU_PRIM static tile::JaggedBox box(const variant::JaggedSequences<Config>& s) {
    return tile::JaggedBox(s.row, s.keys);
  }
};

template <class Config>
struct FlashTile {
  typename Config::Sequences sequence;
  FlashPlan<Config> plan;
  int head;
  int first_row;  // of the sequence's queries; -1: there is no further tile

  HSTU_PRIM FlashRows<typename Config::Sequences> rows() const { return {sequence}; }
  HSTU_PRIM FlashMask<Config> mask() const { return {sequence.key_count()}; }
};

// A place of the order: from the longest rows down.
template <class Config>
struct FlashPlace {
  enum : bool { kByWarp = false };
  using T = Shape<Config>;
  typename Config::Sequences sequence;
  int head;
  int first_row, step;  // of its tiles, as of an HstuPlace

  HSTU_PRIM static u32 places(const AttnFwdParams& p) { return TileOrder::places(p); }
  HSTU_PRIM FlashPlace(const AttnFwdParams& p, u32 index) {
    const TileOrder at(p, index);
    sequence = typename Config::Sequences(p, at.seq);
    head = at.head;
    first_row = (at.whole ? (rows() - 1) / T::kBlockM : p.row_blocks - 1 - at.level) * T::kBlockM;
    step = (at.whole ? -1 : p.row_blocks) * T::kBlockM;
  }

  HSTU_PRIM int rows() const { return sequence.last_query() - sequence.first_query(); }
  HSTU_PRIM bool has_row(int row) const { return row >= 0 && row < rows(); }
  HSTU_PRIM bool exists() const { return has_row(first_row); }
  HSTU_PRIM FlashPlan<Config> plan() const {
    const int last_row = variant::min_int(first_row + T::kBlockM, rows()) - 1, position = sequence.first_query();
    return FlashPlan<Config>({sequence.key_count()}, position + first_row, position + last_row);
  }
  HSTU_PRIM void describe(const FlashPlan<Config>& plan, FlashTile<Config>& tile) const {
    tile.sequence = sequence;
    tile.plan = plan;
    tile.head = head;
    tile.first_row = first_row;
  }
};

}  // namespace hstu::attn90
