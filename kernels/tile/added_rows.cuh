// out = alpha * x + rows of tables, for the rows of a jagged tensor: what the positional operators and
// jagged_dense_broadcast_add share. Bound by memory: x is read once and out written once, the tables come from L2.
//
//   x rows ──► registers ────────────────────────────────────► alpha * x + table rows ──► out rows
//   lanes, a row each: sequence ► table rows' numbers ──► smem ──┘
//
// Work      A block takes whole rows, kAccesses pieces a thread at once, in kRounds rounds (a row longer than that in
//           as many as it needs); each round's pieces of x are in flight while the round before is finished. Which
//           table rows belong to a row is found once a row, by a lane of its own, while the first round's are.
// Barriers  one __syncthreads: the numbers are in shared memory.
// Config    facts: Element (x, out), Table (element of the tables), Offset, kDim, kVector (elements of an aligned
//           access to x, out and tables).
//           knobs: kThreads, kAccesses (pieces a thread and round), kRounds.
// Find      a type with kTables, a constructor from the kernel's parameters and the thread's row, that may start reads,
//           and find(number, sequence, start, end, row): the table rows of `row` of a sequence at [start, end).
#pragma once
#include "tile/added_rows.h"
#include "tile/jagged.cuh"
#include "tile/row_pack.cuh"

namespace hstu::tile {

template <class Config>
struct AddedRowsShape {
  enum : int { kThreads = Config::kThreads, kAccesses = Config::kAccesses, kRound = kThreads * kAccesses };
  enum : int { kRowPieces = Config::kDim / Config::kVector };
  enum : i64 { kBlockPieces = i64{kRound} * Config::kRounds };
  enum : int { kRows = kBlockPieces > kRowPieces ? static_cast<int>(kBlockPieces / kRowPieces) : 1 };
  enum : int { kRounds = static_cast<int>((i64{kRows} * kRowPieces + kRound - 1) / kRound) };
  static_assert(Config::kDim % Config::kVector == 0, "pieces divide rows");
};

// The table rows that belong to each row of a block; no row of a sequence has a negative one.
template <class Config, int kTables>
using RowNumbers = int[AddedRowsShape<Config>::kRows][kTables];

template <class Config, int kTables>
constexpr int added_rows_smem_bytes = static_cast<int>(sizeof(RowNumbers<Config, kTables>));

// A thread's pieces of one round.
template <class Config>
struct AddedPieces {
  using Shape = AddedRowsShape<Config>;
  enum : int { kVector = Config::kVector, kAccesses = Config::kAccesses };

  // rows: of the block.
  HSTU_PRIM AddedPieces(int rows, int round)
      : rows_(rows), first_(static_cast<u32>(round) * Shape::kRound + threadIdx.x) {}
  HSTU_PRIM int row(int access) const { return piece(access) / Shape::kRowPieces; }  // of the block
  HSTU_PRIM int column(int access) const { return piece(access) % Shape::kRowPieces * kVector; }
  HSTU_PRIM bool has(int access) const { return row(access) < rows_; }

  HSTU_PRIM void load(const AddedRowsParams& p, i64 first_row) {
    const auto* from = static_cast<const typename Config::Element*>(p.x);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a)
      if (has(a)) tile::load(x[a], from + (first_row + row(a)) * p.x_row_stride + column(a));
  }

  template <int kTables>
  HSTU_PRIM void add_and_store(const AddedRowsParams& p, i64 first_row, const RowNumbers<Config, kTables>& numbers) {
    using Element = typename Config::Element;
    using Table = typename Config::Table;
    RowPack<Table, kVector> added[kAccesses][kTables];
    bool writes[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      writes[a] = has(a) && numbers[row(a)][0] >= 0;
#pragma unroll
      for (int t = 0; t < kTables; ++t)
        if (writes[a])
          tile::load(added[a][t],
                     static_cast<const Table*>(p.table[t]) + numbers[row(a)][t] * p.table_row_stride[t] + column(a));
    }
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (!writes[a]) continue;
      float sum[kVector], value[kVector];
      unpack(sum, x[a]);
#pragma unroll
      for (float& s : sum) s *= p.alpha;
#pragma unroll
      for (int t = 0; t < kTables; ++t) {
        unpack(value, added[a][t]);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sum[v] += value[v];
      }
      pack(x[a], sum);
      tile::store(static_cast<Element*>(p.out) + (first_row + row(a)) * p.out_row_stride + column(a), x[a]);
    }
  }

  RowPack<typename Config::Element, kVector> x[kAccesses];

 private:
  HSTU_PRIM u32 piece(int access) const { return first_ + access * Shape::kThreads; }

  int rows_;
  u32 first_;
};

// Finds the table rows of 32 rows a warp.
template <class Config, class Find, class Params>
HSTU_PRIM void find_rows(const Params& params, i64 first_row, RowNumbers<Config, Find::kTables>& numbers) {
  const AddedRowsParams& p = params.rows;
  constexpr int kRows = AddedRowsShape<Config>::kRows;
  const SequenceStarts<typename Config::Offset> starts(p.seq_offsets, 0);
  for (int first = prim::warp_id() * 32; first < kRows && first_row + first < p.rows; first += Config::kThreads) {
    const int in_block = first + static_cast<int>(prim::lane_id());
    const i64 last = min(first_row + min(first + 32, kRows), p.rows) - 1, row = min(first_row + in_block, last);
    Find find(params, row);
    const SequenceRange sequences(starts, p.batch, first_row + first, last);
    const int sequence = sequences.of(starts, row);
    const i64 start = starts.start(sequence), end = starts.start(sequence + 1);
    int number[Find::kTables] = {-1};
    if (row < end) find.find(number, sequence, start, end, row);
    if (in_block < kRows) {
#pragma unroll
      for (int t = 0; t < Find::kTables; ++t) numbers[in_block][t] = number[t];
    }
  }
}

// The whole kernel.
template <class Config, class Find, class Params>
HSTU_PRIM void add_rows(const Params& params, unsigned char* smem) {
  using Shape = AddedRowsShape<Config>;
  const AddedRowsParams& p = params.rows;
  auto& numbers = *reinterpret_cast<RowNumbers<Config, Find::kTables>*>(smem);
  const i64 first_row = static_cast<i64>(blockIdx.x) * Shape::kRows;
  const int rows = static_cast<int>(min(p.rows - first_row, i64{Shape::kRows}));
  AddedPieces<Config> pieces(rows, 0);
  pieces.load(p, first_row);
  find_rows<Config, Find>(params, first_row, numbers);
  __syncthreads();
#pragma unroll 1
  for (int round = 1; round < Shape::kRounds; ++round) {
    AddedPieces<Config> next(rows, round);
    next.load(p, first_row);
    pieces.template add_and_store<Find::kTables>(p, first_row, numbers);
    pieces = next;
  }
  pieces.template add_and_store<Find::kTables>(p, first_row, numbers);
}

}  // namespace hstu::tile
