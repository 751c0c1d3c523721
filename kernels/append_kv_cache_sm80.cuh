// New rows of keys and values to the end of each sequence's history in a paged cache: a copy, bound by memory.
//
// A block copies kRows neighbouring rows, all heads of K and V, as one run of accesses dealt to its threads. The first
// of them are on their way while a thread a row finds the row's sequence, by bisection of the offsets, and its page, by
// the table: both depend on memory several times over, and the rows do not depend on them. Rows of targets, and rows
// before position 0 of a history, are nobody's.
#pragma once
#include "params/append_kv_cache.h"
#include "prim/memory.cuh"
#include "prim/types.cuh"

namespace hstu {

// Problem facts in Config: Offset, Target, Page, kJagged, kHasTargets, kPageSize, kHeads, kHeadBytesQk, kHeadBytesV,
// kAccessBytes (a power of two that divides all addresses and strides). Knobs: kThreads, kRows.
template <class Config>
struct AppendKvCache {
  enum : int { kChunksQk = Config::kHeadBytesQk / Config::kAccessBytes };  // of a head
  enum : int { kChunksV = Config::kHeadBytesV / Config::kAccessBytes };
  enum : int { kChunks = Config::kHeads * (kChunksQk + kChunksV) };                             // of a row
  enum : int { kParts = (Config::kRows * kChunks + Config::kThreads - 1) / Config::kThreads };  // of a thread
  enum : int { kPartsAtOnce = kParts < 8 ? kParts : 8 };
  static_assert(Config::kRows <= Config::kThreads, "a thread finds one row");
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

// Where a row goes, in bytes from the beginning of the caches; k is negative if it goes nowhere.
struct RowPlace {
  i64 k, v;
};
template <class Config>
HSTU_PRIM RowPlace place_of(const AppendKvCacheParams& p, i64 row) {
  const int index = row < p.total ? sequence_of<Config>(p, row) : p.batch;
  if (index >= p.batch) return {-1, 0};
  Sequence<Config> sequence;
  sequence.set(p, index);
  const i64 position = sequence.position(row);
  if (position < 0) return {-1, 0};
  const i64 page_index = position / Config::kPageSize, slot = position - page_index * Config::kPageSize;
  i64 page = index;
  if (p.page_offsets) {
    const i64 first = static_cast<const typename Config::Page*>(p.page_offsets)[index];
    page = static_cast<const typename Config::Page*>(p.page_ids)[first + page_index];
  }
  return {page * p.k_page_stride + slot * p.k_slot_stride, page * p.v_page_stride + slot * p.v_slot_stride};
}

// One of a block's accesses, by its number.
template <class Config>
struct Access {
  using T = AppendKvCache<Config>;
  int row, head, offset;  // row of the block; offset in bytes
  bool is_k;

  HSTU_PRIM explicit Access(int number) : row(number / T::kChunks) {
    const int chunk = number % T::kChunks;
    is_k = chunk < Config::kHeads * T::kChunksQk;
    const int inner = is_k ? chunk : chunk - Config::kHeads * T::kChunksQk;
    head = is_k ? inner / (T::kChunksQk > 0 ? T::kChunksQk : 1) : inner / (T::kChunksV > 0 ? T::kChunksV : 1);
    offset = (inner - head * (is_k ? T::kChunksQk : T::kChunksV)) * Config::kAccessBytes;
  }
  HSTU_PRIM const unsigned char* from(const AppendKvCacheParams& p, i64 at) const {
    return is_k ? static_cast<const unsigned char*>(p.k) + at * p.k_row_stride + head * p.k_head_stride + offset
                : static_cast<const unsigned char*>(p.v) + at * p.v_row_stride + head * p.v_head_stride + offset;
  }
  HSTU_PRIM unsigned char* to(const AppendKvCacheParams& p, const RowPlace& place) const {
    return is_k ? static_cast<unsigned char*>(p.k_cache) + place.k + head * p.k_cache_head_stride + offset
                : static_cast<unsigned char*>(p.v_cache) + place.v + head * p.v_cache_head_stride + offset;
  }
};

// This thread's accesses from part `first` on: there and back.
template <class Config>
struct Parts {
  using T = AppendKvCache<Config>;
  Chunk<Config::kAccessBytes> chunks[T::kPartsAtOnce];

  HSTU_PRIM static int number(int part) { return part * Config::kThreads + static_cast<int>(threadIdx.x); }
  HSTU_PRIM void load_from(const AppendKvCacheParams& p, i64 first_row, int first) {
#pragma unroll
    for (int part = 0; part < T::kPartsAtOnce; ++part) {
      const Access<Config> access(number(first + part));
      if (access.row < Config::kRows && first_row + access.row < p.total)
        load(chunks[part], access.from(p, first_row + access.row));
    }
  }
  HSTU_PRIM void store_to(const AppendKvCacheParams& p, const RowPlace* places, int first) const {
#pragma unroll
    for (int part = 0; part < T::kPartsAtOnce; ++part) {
      const Access<Config> access(number(first + part));
      if (access.row < Config::kRows && places[access.row].k >= 0)
        store(access.to(p, places[access.row]), chunks[part]);
    }
  }
};

}  // namespace append_kv_cache_detail

template <class Config>
constexpr int append_kv_cache_sm80_smem_bytes =
    Config::kRows* static_cast<int>(sizeof(append_kv_cache_detail::RowPlace));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    append_kv_cache_sm80(const __grid_constant__ AppendKvCacheParams p) {
  using namespace append_kv_cache_detail;
  using T = AppendKvCache<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  auto* places = reinterpret_cast<RowPlace*>(smem);
  const i64 first_row = static_cast<i64>(blockIdx.x) * Config::kRows;
  Parts<Config> parts;
  parts.load_from(p, first_row, 0);
  if (threadIdx.x < Config::kRows) places[threadIdx.x] = place_of<Config>(p, first_row + threadIdx.x);
  __syncthreads();
  parts.store_to(p, places, 0);
#pragma unroll 1
  for (int first = T::kPartsAtOnce; first < T::kParts; first += T::kPartsAtOnce) {
    parts.load_from(p, first_row, first);
    parts.store_to(p, places, first);
  }
}

}  // namespace hstu
