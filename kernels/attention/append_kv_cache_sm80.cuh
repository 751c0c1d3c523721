// New rows of keys and values to the end of each sequence's history in a paged cache: a copy, bound by memory.
//
// The first blocks copy K, the others V, each rows of all heads: see tile/warp_copy.cuh. The rows are in flight
// while a warp finds their sequences, by the offsets, and their pages, by the table: these depend on memory several
// times over, and the rows do not depend on them. Rows of targets, and rows before position 0 of a history, are
// nobody's.
#pragma once
#include "attention/append_kv_cache.h"
#include "tile/target_rows.cuh"
#include "tile/warp_copy.cuh"

namespace hstu {

namespace append_kv_cache {

// A sequence's new rows and where they go.
template <class Config>
class Sequence {
 public:
  template <class Starts>
  HSTU_PRIM Sequence(const AppendKvCacheParams& p, const Starts& starts, int index)
      : begin_(starts.start(index)), end_(starts.start(index + 1)), first_page_(index) {
    if constexpr (Config::kHasTargets)
      end_ -= tile::target_rows<typename Config::Target>(p.num_targets, index, end_ - begin_);
    i64 pages = 1;
    if (p.page_offsets) {
      const auto* offsets = static_cast<const Page*>(p.page_offsets);
      first_page_ = offsets[index], pages = offsets[index + 1] - first_page_;
    }
    const i64 last_page_len = static_cast<const Page*>(p.last_page_lens)[index];
    position_shift_ = (pages > 0 ? (pages - 1) * Config::kPageSize + last_page_len : 0) - end_;
  }

  HSTU_PRIM i64 begin() const { return begin_; }
  HSTU_PRIM i64 end() const { return end_; }  // targets come behind it
  HSTU_PRIM char* place(const AppendKvCacheParams& p, const AppendKvCacheSide& side, i64 row) const {
    const i64 position = row + position_shift_;
    if (position < 0) return nullptr;
    const i64 page_index = static_cast<i64>(static_cast<u64>(position) / Config::kPageSize);
    const i64 slot = position - page_index * Config::kPageSize;
    const i64 page = p.page_ids ? static_cast<const Page*>(p.page_ids)[first_page_ + page_index] : first_page_;
    return static_cast<char*>(side.cache) + page * side.page_stride + slot * side.slot_stride;
  }

 private:
  using Page = typename Config::Page;

  i64 begin_, end_;
  i64 first_page_;      // its index in page_ids; where there are none, the page
  i64 position_shift_;  // row -> position in the history
};

// Of K or V, whose rows are kHeads heads of kHeadBytes.
template <class Config, int kHeadBytes>
struct Copier {
  enum : u32 { kHeadPieces = kHeadBytes / Config::kAccessBytes };
  enum : int {
    kRowPieces = Config::kHeads * kHeadPieces,
    kPieceBytes = Config::kAccessBytes,
    kThreads = Config::kThreads,
    kAccesses = Config::kAccesses
  };
  enum : bool { kReadsAtOnce = true };

  HSTU_PRIM int batch() const { return p.batch; }
  HSTU_PRIM u64 density() const { return p.density; }
  HSTU_PRIM i64 rows() const { return p.total; }
  HSTU_PRIM auto starts() const {
    return tile::SequenceStarts<typename Config::Offset>(p.seq_offsets, p.rows_per_sequence);
  }
  HSTU_PRIM const char* source(i64 row) const { return static_cast<const char*>(side.rows) + row * side.row_stride; }
  HSTU_PRIM Sequence<Config> sequence(int index) const { return {p, starts(), index}; }
  HSTU_PRIM tile::RowAddresses addresses(const Sequence<Config>& sequence, i64 row) const {
    return {nullptr, sequence.place(p, side, row)};
  }
  HSTU_PRIM static i64 byte(u32 piece, i64 head_stride) {
    return piece / kHeadPieces * head_stride + piece % kHeadPieces * kPieceBytes;
  }
  HSTU_PRIM i64 byte_from(u32 piece) const { return byte(piece, side.head_stride); }
  HSTU_PRIM i64 byte_to(u32 piece) const { return byte(piece, side.cache_head_stride); }

  const AppendKvCacheParams& p;
  const AppendKvCacheSide& side;
};

template <class Config, int kHeadBytes>
HSTU_PRIM void copy_side(const AppendKvCacheParams& p, const AppendKvCacheSide& side, u32 block) {
  if constexpr (kHeadBytes > 0) tile::copy_block(Copier<Config, kHeadBytes>{p, side}, block);
}

}  // namespace append_kv_cache

// Problem facts in Config: Offset (i32, i64, or tile::Dense), Target, Page, kHasTargets, kPageSize, kHeads,
// kHeadBytesQk, kHeadBytesV, kAccessBytes (a power of two that divides all addresses and strides). Knobs: kThreads,
// kAccesses.
template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    append_kv_cache_sm80(const __grid_constant__ AppendKvCacheParams p) {
  if (blockIdx.x < p.k_blocks)
    append_kv_cache::copy_side<Config, Config::kHeadBytesQk>(p, p.k, blockIdx.x);
  else
    append_kv_cache::copy_side<Config, Config::kHeadBytesV>(p, p.v, blockIdx.x - p.k_blocks);
}

}  // namespace hstu
