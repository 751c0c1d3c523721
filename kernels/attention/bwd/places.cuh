// What the kernels of the gradient of attention have alike: which places there are, where their rows lie, which tiles
// of the other side they walk over, and what becomes of d_attn_scale.
//
// A kernel is a struct with
//   Config, Shape                 Shape: kThreads, kOwn rows of a block of threads, kWalk rows of the other side a step
//   rows<kKeySide, kQk, kV>(...)  a block's own rows of keys (dk with kQk, dv with kV) or of queries (dq with kQk)
//   bias(...)                     kOwn rows and kWalk keys of a table of drab
// Every kernel is one launch: key places first, which take longest, then query places, then those of drab.
#pragma once
#include "attention/attn_bwd.h"
#include "attention/mask/interval_sight.cuh"
#include "attention/section_order.cuh"
#include "attention/variant/kv_heads.cuh"
#include "attention/variant/sequences.cuh"
#include "prim/lanes.cuh"
#include "prim/types.cuh"
#include "tile/last_blocks.cuh"

namespace hstu::attn_bwd_detail {

enum : int { kManyTiles = 16 };  // that a walk asks about at once

// A sequence and its mask.
template <class Config>
struct Rows {
  using Element = typename Config::Element;
  typename Config::Sequences sequence;
  typename Config::Mask mask;
  int seq;

  HSTU_PRIM Rows(const AttnBwdParams& p, int seq, int head) : sequence(p.forward, seq), seq(seq) {
    variant::place_mask(mask, p.forward, seq, head, sequence.row, sequence.keys);
  }
  HSTU_PRIM int count() const { return sequence.keys; }
  HSTU_PRIM const Element* dout(const AttnBwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.dout) + (sequence.row + position) * p.dout_row_stride +
           head * p.dout_head_stride;
  }
  HSTU_PRIM Element* gradient(void* of, i64 row_stride, i64 head_stride, int head, int position) const {
    return static_cast<Element*>(of) + (sequence.row + position) * row_stride + head * head_stride;
  }
  // What a silu head's result at this position is multiplied with.
  HSTU_PRIM float scale(const AttnBwdParams& p, int position) const {
    if constexpr (!Config::kAttnScale) return p.forward.scale;
    return p.forward.attn_scale[(sequence.row + position) * p.forward.attn_scale_stride];
  }
};

template <class Config>
HSTU_PRIM bool is_softmax(const AttnBwdParams& p, int head) {
  if constexpr (!Config::kSoftmax) return false;
  if constexpr (!Config::kSilu) return true;
  return head < p.forward.num_softmax_heads;
}

// Tiles of kWalk rows of the other side, from the sequence's end down, head by head: those that the own rows meet.
template <class Kernel, bool kKeySide>
struct Walk {
  using Shape = typename Kernel::Shape;
  using Mask = typename Kernel::Config::Mask;
  int head, tile;

  HSTU_PRIM int begin(int rows) const { return rows - (tile + 1) * Shape::kWalk; }
  HSTU_PRIM static bool meets(const Mask& mask, int own, int begin, int end) {
    return kKeySide ? variant::sees_some(mask, begin, end, own, own + Shape::kOwn)
                    : variant::sees_some(mask, own, own + Shape::kOwn, begin, end);
  }
  // To the first tile from here on that there is; the head is `last_head` when there is none.
  HSTU_PRIM void settle(const Mask& mask, int rows, int own, int last_head) {
    const int tiles = (rows + Shape::kWalk - 1) / Shape::kWalk;
    for (; head < last_head; ++head, tile = 0) {
      while (tile < tiles) {
        const int end = rows - tile * Shape::kWalk;
        if (tile % kManyTiles == 0 && !meets(mask, own, end - kManyTiles * Shape::kWalk, end)) {
          tile += kManyTiles;
          continue;
        }
        if (meets(mask, own, end - Shape::kWalk, end)) return;
        ++tile;
      }
    }
  }
};

template <class Kernel, bool kKeySide, bool kQk, bool kV>
HSTU_PRIM void rows_place(const AttnBwdParams& p, Kernel& kernel, u32 index) {
  using Config = typename Kernel::Config;
  using Shape = typename Kernel::Shape;
  constexpr u32 kGroup = kKeySide ? variant::heads_per_kv<Config>(0) : 1;
  const u32 heads = p.forward.num_heads / kGroup, levels = kKeySide ? p.key_levels : p.query_levels;
  const u32 section = (p.forward.section_pairs + kGroup - 1) / kGroup;
  const tile::SectionOrder order(index, p.forward.batch * heads, section, levels, false);
  const u32 seq = order.pair / heads, head = order.pair - seq * heads;
  Rows<Config> rows(p, seq, head * kGroup);
  const int tiles = (rows.count() + Shape::kOwn - 1) / Shape::kOwn, level = static_cast<int>(order.level);
  const int all = static_cast<int>(levels);
  // The longest walks first: of query rows at the sequence's end, of keys at its start.
  int tile = kKeySide ? all - 1 - level : level - variant::max_int(all - tiles, 0);
  if (tile < 0) return;
#pragma unroll 1
  for (; tile < tiles; tile += all)
    kernel.template rows<kKeySide, kQk, kV>(p, rows, head, rows.count() - (tile + 1) * Shape::kOwn);
}

template <class Kernel>
HSTU_PRIM void bias_place(const AttnBwdParams& p, Kernel& kernel, u32 index) {
  using Shape = typename Kernel::Shape;
  const int column = static_cast<int>(index % p.bias_columns);
  index /= p.bias_columns;
  const int row = static_cast<int>(index % p.bias_row_tiles);
  index /= p.bias_row_tiles;
  const int table = static_cast<int>(index % p.bias_tables), seq = static_cast<int>(index / p.bias_tables);
  Rows<typename Kernel::Config> rows(p, seq, 0);
  // Tiles lie whole numbers of tiles from the sequence's end, so that none is cut by it.
  const int behind = p.forward.rab_positions - rows.count();
  const auto begin = [&](int tile, int of) {
    const int skipped = behind >= 0 ? -((behind + of - 1) / of) : -behind / of;
    return rows.count() - (skipped + tile + 1) * of;
  };
  const int own = begin(row, Shape::kOwn), key = begin(column, Shape::kWalk);
  if (own + Shape::kOwn <= 0 || key + Shape::kWalk <= 0) return;
  kernel.bias(p, rows, table, own, key);
}

// A row of drab: writes its elements, or adds to them. Positions that the table does not have are left out.
template <class Config>
class BiasRow {
  using Element = typename Config::Element;
  Element* to_;
  u32 columns_;
  bool adds_;

 public:
  HSTU_PRIM BiasRow(const AttnBwdParams& p, int seq, int table, int row)
      : to_(static_cast<Element*>(p.drab) + seq * p.drab_batch_stride + table * p.drab_head_stride +
            row * p.drab_row_stride),
        columns_(static_cast<u32>(row) < static_cast<u32>(p.forward.rab_positions) ? p.forward.rab_positions : 0),
        adds_(p.accumulate) {}
  HSTU_PRIM void write(int column, float value) const {
    if (static_cast<u32>(column) >= columns_) return;
    to_[column] = prim::from_float<Element>(adds_ ? value + prim::to_float(to_[column]) : value);
  }
};

// d_attn_scale of what the heads have left of each row, by the last blocks. smem: a word, then a float a warp.
template <class Kernel>
HSTU_PRIM void add_scales(const AttnBwdParams& p, tile::LastBlocks& blocks, unsigned char* smem) {
  using Config = typename Kernel::Config;
  enum : int { kThreads = Kernel::Shape::kThreads, kRowsOfPiece = kThreads * 4 };
  const AttnFwdParams& f = p.forward;
  const int first = Config::kSoftmax ? (Config::kSilu ? f.num_softmax_heads : f.num_heads) : 0;
  const i64 rows = static_cast<const typename Config::Offset*>(f.seq_offsets)[f.batch];
  const auto sum_of = [&](i64 row) {
    float sum = 0;
    for (int head = first; head < f.num_heads; ++head) sum += __ldcg(p.scale_terms + head * p.total + row);
    return sum;
  };
  const u32 pieces = p.d_attn_scale_rows ? static_cast<u32>((rows + kRowsOfPiece - 1) / kRowsOfPiece) : 1;
  tile::share_among_last(blocks, pieces, reinterpret_cast<volatile u32*>(smem), [&](u32 piece) {
    if (p.d_attn_scale_rows) {
      const i64 begin = static_cast<i64>(piece) * kRowsOfPiece, end = begin + kRowsOfPiece;
      for (i64 row = begin + threadIdx.x; row < (end < rows ? end : rows); row += kThreads)
        p.d_attn_scale[row] = sum_of(row) + (p.accumulate ? p.d_attn_scale[row] : 0.0f);
      return;
    }
    float* sums = reinterpret_cast<float*>(smem) + 4;
    float sum = 0;
    for (i64 row = threadIdx.x; row < rows; row += kThreads) sum += sum_of(row);
    sum = prim::lane_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < kThreads / 32; ++warp) sum += sums[warp];
    *p.d_attn_scale = sum + (p.accumulate ? *p.d_attn_scale : 0.0f);
  });
}

template <class Kernel>
HSTU_PRIM void run_place(const AttnBwdParams& p, Kernel& kernel, int place) {
  using Config = typename Kernel::Config;
  if constexpr (Config::kHasDk || Config::kHasDv) {
    constexpr bool kV = Config::kHasDv && (!Config::kApart || !Config::kHasDk);
    if (place < p.key_places) return rows_place<Kernel, true, Config::kHasDk, kV>(p, kernel, place);
  }
  place -= p.key_places;
  if constexpr (Config::kApart && Config::kHasDk && Config::kHasDv) {
    if (place < p.value_places) return rows_place<Kernel, true, false, true>(p, kernel, place);
  }
  place -= p.value_places;
  if constexpr (Config::kHasDq || Config::kHasDattnScale) {
    if (place < p.query_places) return rows_place<Kernel, false, Config::kHasDq, false>(p, kernel, place);
  }
  place -= p.query_places;
  if constexpr (Config::kDrab) bias_place(p, kernel, place);
}

// The whole kernel. word: room in shared memory for a word and a float a warp, 16-byte aligned.
template <class Kernel>
HSTU_PRIM void run(const AttnBwdParams& p, Kernel& kernel, unsigned char* word) {
  if constexpr (Kernel::Config::kHasDattnScale) {
    // The last blocks are counted, in 16 bits: a block may have several places.
    tile::LastBlocks blocks(p.counters);
    if (threadIdx.x == 0) blocks.start();
    const int places = p.key_places + p.value_places + p.query_places + p.bias_places;
#pragma unroll 1
    for (int place = blockIdx.x; place < places; place += gridDim.x) run_place(p, kernel, place);
    add_scales<Kernel>(p, blocks, word);
  } else {
    run_place(p, kernel, blockIdx.x);
  }
}

}  // namespace hstu::attn_bwd_detail
