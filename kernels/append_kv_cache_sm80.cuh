// New rows of keys and values to the end of each sequence's history in a paged cache: a copy, bound by memory.
//
// A team of kThreadsPerRow threads copies kRowsPerTeam neighbouring rows, all heads of K and V: it finds the rows'
// sequence by bisection of the offsets, their pages by the table, then loads all its parts of a row before it stores
// one. Rows of targets, and rows before position 0 of a history, are nobody's.
#pragma once
#include "params/append_kv_cache.h"
#include "prim/memory.cuh"
#include "prim/types.cuh"

namespace hstu {

// Problem facts in Config: Offset, Target, Page, kJagged, kHasTargets, kPageSize, kHeads, kHeadBytesQk, kHeadBytesV,
// kAccessBytes (a power of two that divides all addresses and strides). Knobs: kThreads, kThreadsPerRow, kRowsPerTeam.
template <class Config>
struct AppendKvCache {
  static constexpr int kChunksQk = Config::kHeadBytesQk / Config::kAccessBytes;  // of a head
  static constexpr int kChunksV = Config::kHeadBytesV / Config::kAccessBytes;
  static constexpr int kChunks = Config::kHeads * (kChunksQk + kChunksV);                         // of a row
  static constexpr int kParts = (kChunks + Config::kThreadsPerRow - 1) / Config::kThreadsPerRow;  // of a thread, a row
  static constexpr int kPartsAtOnce = kParts < 8 ? kParts : 8;
  static constexpr int kRowsPerBlock = Config::kThreads / Config::kThreadsPerRow * Config::kRowsPerTeam;
  static_assert(Config::kThreads % Config::kThreadsPerRow == 0, "a block is whole teams");
};

namespace append_kv_cache_detail {

// One access, held in as many registers.
template <int kBytes>
struct Chunk {
  prim::Quad quad;
};
template <int kBytes>
HSTU_PRIM void load(Chunk<kBytes>& chunk, const unsigned char* p) {
  if constexpr (kBytes == 16) {
    chunk.quad = prim::ld_global(p);
  } else if constexpr (kBytes == 8) {
    const prim::Pair pair = prim::ld_global8(p);
    chunk.quad.word[0] = pair.word[0], chunk.quad.word[1] = pair.word[1];
  } else if constexpr (kBytes == 4) {
    chunk.quad.word[0] = prim::ld_global4(p);
  } else if constexpr (kBytes == 2) {
    chunk.quad.word[0] = prim::ld_global2(p);
  } else {
    chunk.quad.word[0] = *p;
  }
}
template <int kBytes>
HSTU_PRIM void store(unsigned char* p, const Chunk<kBytes>& chunk) {
  if constexpr (kBytes == 16) {
    prim::st_global(p, chunk.quad);
  } else if constexpr (kBytes == 8) {
    prim::st_global8(p, prim::Pair{{chunk.quad.word[0], chunk.quad.word[1]}});
  } else if constexpr (kBytes == 4) {
    prim::st_global4(p, chunk.quad.word[0]);
  } else if constexpr (kBytes == 2) {
    prim::st_global2(p, chunk.quad.word[0]);
  } else {
    *p = static_cast<unsigned char>(chunk.quad.word[0]);
  }
}

// A sequence's new rows and where they go.
template <class Config>
struct Sequence {
  int index;
  i64 begin, end;      // its rows of k and v, targets included
  i64 copied_end;      // those that are copied end here
  i64 position_shift;  // row - begin of the sequence's new rows -> position in its history

  HSTU_PRIM void set(const AppendKvCacheParams& p, int seq) {
    index = seq;
    if constexpr (Config::kJagged) {
      const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
      begin = offsets[seq], end = offsets[seq + 1];
    } else {
      begin = seq * p.rows_per_sequence, end = begin + p.rows_per_sequence;
    }
    copied_end = end;
    if constexpr (Config::kHasTargets) copied_end -= static_cast<const typename Config::Target*>(p.num_targets)[seq];
    const auto* lens = static_cast<const typename Config::Page*>(p.last_page_lens);
    i64 pages = 1;
    if (p.page_offsets) {
      const auto* offsets = static_cast<const typename Config::Page*>(p.page_offsets);
      pages = static_cast<i64>(offsets[seq + 1]) - offsets[seq];
    }
    const i64 history = pages > 0 ? (pages - 1) * Config::kPageSize + lens[seq] : 0;
    position_shift = history - (copied_end - begin);
  }

  // Position of a row in the history; negative: it is not copied.
  HSTU_PRIM i64 position(i64 row) const { return row < copied_end ? row - begin + position_shift : -1; }
};

// The sequence that holds the row, or batch: none does.
template <class Config>
HSTU_PRIM int sequence_of(const AppendKvCacheParams& p, i64 row) {
  if constexpr (!Config::kJagged) return static_cast<int>(row / p.rows_per_sequence);
  const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
  int low = 0, high = p.batch;  // the first whose end lies behind the row
  while (low < high) {
    const int middle = (low + high) / 2;
    if (offsets[middle + 1] > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

template <class Config>
HSTU_PRIM void copy_row(const AppendKvCacheParams& p, i64 row, int seq, i64 position) {
  using T = AppendKvCache<Config>;
  const i64 page_index = position / Config::kPageSize, slot = position - page_index * Config::kPageSize;
  i64 page = seq;
  if (p.page_offsets) {
    const i64 first = static_cast<const typename Config::Page*>(p.page_offsets)[seq];
    page = static_cast<const typename Config::Page*>(p.page_ids)[first + page_index];
  }
  const auto* k = static_cast<const unsigned char*>(p.k) + row * p.k_row_stride;
  const auto* v = static_cast<const unsigned char*>(p.v) + row * p.v_row_stride;
  auto* k_to = static_cast<unsigned char*>(p.k_cache) + page * p.k_page_stride + slot * p.k_slot_stride;
  auto* v_to = static_cast<unsigned char*>(p.v_cache) + page * p.v_page_stride + slot * p.v_slot_stride;
  const int lane = threadIdx.x % Config::kThreadsPerRow;
#pragma unroll 1
  for (int first = 0; first < T::kParts; first += T::kPartsAtOnce) {
    Chunk<Config::kAccessBytes> chunks[T::kPartsAtOnce];
    unsigned char* to[T::kPartsAtOnce];
#pragma unroll
    for (int part = 0; part < T::kPartsAtOnce; ++part) {
      const int chunk = (first + part) * Config::kThreadsPerRow + lane;
      to[part] = nullptr;
      if (chunk >= T::kChunks) continue;
      const bool is_k = chunk < Config::kHeads * T::kChunksQk;
      const int inner = is_k ? chunk : chunk - Config::kHeads * T::kChunksQk;
      const int head =
          is_k ? inner / (T::kChunksQk > 0 ? T::kChunksQk : 1) : inner / (T::kChunksV > 0 ? T::kChunksV : 1);
      const int offset = (inner - head * (is_k ? T::kChunksQk : T::kChunksV)) * Config::kAccessBytes;
      load(chunks[part], (is_k ? k + head * p.k_head_stride : v + head * p.v_head_stride) + offset);
      to[part] = (is_k ? k_to + head * p.k_cache_head_stride : v_to + head * p.v_cache_head_stride) + offset;
    }
#pragma unroll
    for (int part = 0; part < T::kPartsAtOnce; ++part) {
      if (to[part]) store(to[part], chunks[part]);
    }
  }
}

}  // namespace append_kv_cache_detail

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    append_kv_cache_sm80(const __grid_constant__ AppendKvCacheParams p) {
  using namespace append_kv_cache_detail;
  using T = AppendKvCache<Config>;
  const i64 first = static_cast<i64>(blockIdx.x) * T::kRowsPerBlock +
                    static_cast<i64>(threadIdx.x / Config::kThreadsPerRow) * Config::kRowsPerTeam;
  const i64 last = min(first + Config::kRowsPerTeam, p.total);
  if (first >= last) return;
  Sequence<Config> sequence;
  int next = sequence_of<Config>(p, first);
  sequence.end = -1;
  for (i64 row = first; row < last; ++row) {
    while (row >= sequence.end) {  // empty sequences are stepped over
      if (next >= p.batch) return;
      sequence.set(p, next++);
    }
    const i64 position = sequence.position(row);
    if (position >= 0) copy_row<Config>(p, row, sequence.index, position);
  }
}

}  // namespace hstu
