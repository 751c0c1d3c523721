// Rows of e4m3 tensors on their way to an attention kernel of the sm_80 generation: dequantised to Config::Element,
// which the tiles in shared memory hold.
#pragma once
#include "attention/attn_fwd.h"
#include "attention/sm80/attn_ring.cuh"
#include "attention/sm80/attn_tiles.cuh"
#include "attention/variant/kv_heads.cuh"
#include "prim/fp8.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

// Scales of a tensor's rows: per head of a sequence, or with kBlockScales per head and 128 rows of the tensor.
struct Fp8Scales {
  const float* first;
  i64 stride, head_stride;

  template <class Config>
  HSTU_PRIM float at(i64 row, int seq, int head) const {
    const i64 unit = Config::kBlockScales ? row / 128 : seq;
    return first[unit * stride + head * head_stride];
  }
};

// Eight elements times their scale, of which the first `count` exist; the others are zeros.
template <class Config>
HSTU_PRIM prim::Quad dequantise8(const e4m3* src, int count, float scale) {
  using Element = typename Config::Element;
  prim::Pair bytes{{0, 0}};
  if constexpr (Config::kVectorIn) {
    if (count > 0) bytes = prim::ld_global8(src);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < count) bytes.word[i / 4] |= static_cast<u32>(src[i].bits) << (i % 4 * 8);
  }
  prim::Quad quad;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u32 pair = prim::unpack2_fp8<e4m3>(bytes.word[i / 2] >> (i % 2 * 16) & 0xffffu);
    quad.word[i] = prim::pack2<Element>(prim::unpack_lo<f16>(pair) * scale, prim::unpack_hi<f16>(pair) * scale);
  }
  return quad;
}

// Fills the tile at `base` with rows whose first is row `row` of a tensor; those before `begin`, and columns from kDim
// on, become zeros. All threads.
template <class Tile, int kDim, class Config>
HSTU_PRIM void load_fp8_rows(u32 base, const e4m3* head_base, i64 row_stride, const Fp8Scales& scales, i64 row, int seq,
                             int head, int begin) {
  constexpr int kThreads = AttnFwdSm80<Config>::kThreads, kChunks = Tile::kCols / 8;
#pragma unroll 2
  for (int i = prim::thread_id(); i < Tile::kRows * kChunks; i += kThreads) {
    const int this_row = i / kChunks, chunk = i % kChunks;
    prim::Quad quad{{0, 0, 0, 0}};
    if (this_row >= begin) {
      const float scale = scales.template at<Config>(row + this_row, seq, head);
      quad = dequantise8<Config>(head_base + (row + this_row) * row_stride + chunk * 8, kDim - chunk * 8, scale);
    }
    prim::st_shared(base + chunk_offset<Tile>(this_row, chunk), quad);
  }
}

// Config::Keys, as attention/sm80/key_rows.cuh: but a block is loaded as a whole with its first part, and at once.
template <class Config>
struct Fp8KeyRows {
  using T = AttnFwdSm80<Config>;
  enum : bool { kLoadsQueries = true };
  i64 row;        // of the tensors: first of the block to load
  int begin;      // first row of the block that belongs to its range
  int seq, head;  // of k and v

  template <class Row>
  HSTU_PRIM Fp8KeyRows(const AttnFwdParams&, const Row& tile)
      : row(tile.sequence.row + tile.plan.key_begin(0)),
        begin(tile.plan.range_begin(0) - tile.plan.key_begin(0)),
        seq(tile.seq),
        head(variant::kv_head_of<Config>(tile.head)) {}

  HSTU_PRIM void part(const AttnFwdParams& p, const AttnRing<Config>& ring, int block, bool enable, int part,
                      int) const {
    if (part > 0 || !enable) return;
    const u32 stage = ring.stage(block);
    load_fp8_rows<typename T::KTile, Config::kHeadDimQk, Config>(
        stage, static_cast<const e4m3*>(p.k) + head * p.k_head_stride, p.k_row_stride,
        {p.k_scale, p.k_scale_stride, p.k_scale_head_stride}, row, seq, head, begin);
    load_fp8_rows<typename T::VTile, Config::kHeadDimV, Config>(
        stage + T::KTile::kBytes, static_cast<const e4m3*>(p.v) + head * p.v_head_stride, p.v_row_stride,
        {p.v_scale, p.v_scale_stride, p.v_scale_head_stride}, row, seq, head, begin);
  }
  // After the last part: on to number `block`.
  template <class Row>
  HSTU_PRIM void move_to(const AttnFwdParams&, const Row& tile, int block) {
    if (tile.plan.range_starts(block)) {
      row += tile.plan.key_begin(block) - tile.plan.key_begin(block - 1);
      begin = tile.plan.range_begin(block) - tile.plan.key_begin(block);
    } else {
      row -= T::kBlockN;
      begin += T::kBlockN;
    }
  }

  // The queries of a row block, to the tile at `base`.
  template <class Row>
  HSTU_PRIM static void load_queries(const AttnFwdParams& p, const Row& tile, u32 base, int padding_rows) {
    load_fp8_rows<typename T::QTile, Config::kHeadDimQk, Config>(
        base, static_cast<const e4m3*>(p.q) + tile.head * p.q_head_stride, p.q_row_stride,
        {p.q_scale, p.q_scale_stride, p.q_scale_head_stride}, tile.sequence.row + tile.first_row, tile.seq, tile.head,
        padding_rows);
  }
};

}  // namespace hstu::tile
