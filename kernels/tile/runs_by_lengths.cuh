// Copies of jagged vectors whose sequences are given by lengths, in one launch and without a workspace: a block writes
// neighbouring rows (elements) of the result and adds up, by itself, the lengths of what lies before.
//
//   lengths, many at once, until the sums reach the block's first row
//     ──► a chunk's starts in smem as runs ──► its rows of the block, copied (tile/runs.cuh) ──► next chunk
//
// Limits    Each block reads the lengths before its rows from L2 and copies nothing meanwhile, so there are no more
// blocks
//           than run at once, or few times as many. On an H200, 35,651,584 elements of 4 bytes in 4096 sequences: 70 to
//           73 % of a copy; in 65,536 sequences 29 to 39 %, most of it those sums.
// Barriers  one for so many lengths that are passed over as all warps read at once; two a chunk: the warps' sums are
//           there; the runs are.
// Config    facts: LeftLength, RightLength, Offset (i32, i64, or tile::Dense where there is none); kAccessBytes (of an
//           element: 8, 4, 2 or 1).
//           knobs: kThreads, kAccesses (pieces of 16 bytes of a thread on their way at once),
//           kMinBlocks.
#pragma once
#include "params/jagged_lengths.h"
#include "tile/block_scan.cuh"
#include "tile/runs.cuh"

namespace hstu::tile {

// Of one sequence or of all before it: rows of the result, and another part's.
struct alignas(16) RowSums {
  i64 out, other;
};

// What copies have in common: a block writes the rows [begin(), end()) of `rows`.
template <class Config>
class BlockRows {
 public:
  HSTU_PRIM BlockRows(u32 block, i64 rows, i64 of_block)
      : begin_(block * of_block), end_(min(begin_ + of_block, rows)) {}
  HSTU_PRIM i64 begin() const { return begin_; }
  HSTU_PRIM i64 end() const { return end_; }
  HSTU_PRIM static bool needs_all() { return false; }
  HSTU_PRIM static void finish(int, const RowSums&, const RowSums&) {}

 protected:
  HSTU_PRIM static char* at(void* data, i64 row) { return static_cast<char*>(data) + row * Config::kAccessBytes; }
  HSTU_PRIM static u64 address(void* data, i64 row) {
    return reinterpret_cast<u64>(data) + static_cast<u64>(row * Config::kAccessBytes);
  }

 private:
  i64 begin_, end_;
};

template <class Config, class Copy>
struct RunsStorage {
  enum : int { kSequences = Config::kThreads, kRuns = kSequences * Copy::kRunsASequence };
  RunTable<kRuns> runs;
  RowSums sums[3][Config::kThreads / 32];  // turns of the search, and the chunk's
};

template <class Config, class Copy>
constexpr int runs_by_lengths_smem_bytes = static_cast<int>(sizeof(RunsStorage<Config, Copy>));

// Copy: what a block writes, on top of BlockRows, constructed from the params; with
//   kRunsASequence, kOutputs  a second output has of each row what lies one element further
//   out(output)               where row begin() goes
//   rows(sequence)            RowSums of one
//   set_runs(table, place, sequence, before, rows)  of those before it and of its own; without rows behind the last
//   finish(sequence, before, rows)                  once more by the thread that has the sequence
//   needs_all()               whether finish() is for sequences behind the block's rows, too
template <class Config, class Copy>
class RunsByLengths {
  using Storage = RunsStorage<Config, Copy>;
  enum : int { kSequences = Storage::kSequences, kThreads = Config::kThreads, kWarps = kThreads / 32 };
  enum : int { kSkimmed = 8, kSlice = 32 * kSkimmed };  // lengths of a lane, and of a warp, that are read at once

  const Copy copy_;
  const int batch_;
  Storage& storage_;
  RowSums before_ = {0, 0};  // the next chunk

 public:
  HSTU_PRIM RunsByLengths(const Copy& copy, int batch, unsigned char* smem)
      : copy_(copy), batch_(batch), storage_(*reinterpret_cast<Storage*>(smem)) {}

  HSTU_PRIM void run() {
    int first = batch_ > kSequences && copy_.begin() > 0 ? pass_over() : 0;
    for (; first < batch_; first += kSequences) {
      const i64 start = before_.out;
      add_chunk(first);
      const i64 from = max(start, copy_.begin()) - copy_.begin(), to = min(before_.out, copy_.end()) - copy_.begin();
      if (from < to) copy_rows(static_cast<i32>(from), static_cast<i32>(to));
      if (before_.out >= copy_.end() && !copy_.needs_all()) break;
      __syncthreads();
    }
  }

 private:
  // The first sequence of a warp's slice of lengths whose sum reaches the block's rows.
  HSTU_PRIM int pass_over() {
    const u32 lane = prim::lane_id(), warp = threadIdx.x / 32;
    int turn = 0;
#pragma unroll 1
    for (int first = 0; first < batch_; first += kSlice * kWarps, turn ^= 1) {
      const int mine = first + static_cast<int>(warp * kSlice + lane);
      RowSums sum = {0, 0};
#pragma unroll
      for (int i = 0; i < kSkimmed; ++i) {
        const int sequence = mine + i * 32;
        const RowSums rows = copy_.rows(min(sequence, batch_ - 1));
        sum.out += sequence < batch_ ? rows.out : 0;
        sum.other += sequence < batch_ ? rows.other : 0;
      }
      add_before(sum.out, lane);
      add_before(sum.other, lane);
      if (lane == 31) storage_.sums[turn][warp] = sum;
      __syncthreads();
      bool reached = false;
      int passed = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const RowSums slice = storage_.sums[turn][w];
        reached = reached || before_.out + slice.out >= copy_.begin();
        if (reached) continue;
        before_.out += slice.out;
        before_.other += slice.other;
        ++passed;
      }
      if (reached) return first + passed * kSlice;
    }
    return batch_;
  }

  // The runs of the sequences from `first` on; before_ goes on to the next.
  HSTU_PRIM void add_chunk(int first) {
    const u32 lane = prim::lane_id(), warp = threadIdx.x / 32;
    const int mine = first + static_cast<int>(threadIdx.x);
    const RowSums rows = mine < batch_ ? copy_.rows(mine) : RowSums{0, 0};
    RowSums before = rows;
    add_before(before.out, lane);
    add_before(before.other, lane);
    if (lane == 31) storage_.sums[2][warp] = before;
    __syncthreads();
    before.out += before_.out - rows.out;
    before.other += before_.other - rows.other;
#pragma unroll
    for (u32 w = 0; w < kWarps; ++w) {
      const RowSums sum = storage_.sums[2][w];
      before_.out += sum.out;
      before_.other += sum.other;
      if (w < warp) {
        before.out += sum.out;
        before.other += sum.other;
      }
    }
    copy_.set_runs(storage_.runs, static_cast<int>(threadIdx.x), min(mine, batch_ - 1), before, rows);
    if (threadIdx.x == kThreads - 1)
      storage_.runs.starts[Storage::kRuns] = storage_.runs.cut(before_.out - copy_.begin());
    if (mine < batch_) copy_.finish(mine, before, rows);
    __syncthreads();
  }

  HSTU_PRIM void copy_rows(i32 from, i32 to) const {
    constexpr int kBytes = Config::kAccessBytes, kLineRows = 128 / kBytes;
    using Copier = RunCopier<kBytes, Config::kAccesses, Storage::kRuns>;
    const Copier copier(storage_.runs, from, to);
    i32 row[Copy::kOutputs];  // of the first span, which begins with a line of memory
    int near[Copy::kOutputs];
#pragma unroll
    for (int o = 0; o < Copy::kOutputs; ++o) {
      const i32 behind = static_cast<i32>(reinterpret_cast<u64>(copy_.out(o)) % 128 / kBytes);
      row[o] =
          (from + behind) / kLineRows * kLineRows - behind + static_cast<i32>(threadIdx.x / 32) * Copier::kSpanRows;
      near[o] = 0;
    }
#pragma unroll 1
    for (; row[0] < to || row[Copy::kOutputs - 1] < to;) {
#pragma unroll
      for (int o = 0; o < Copy::kOutputs; ++o) {
        copier.copy(copy_.out(o), row[o], o * kBytes, near[o]);
        row[o] += kWarps * Copier::kSpanRows;
      }
    }
  }
};

}  // namespace hstu::tile
