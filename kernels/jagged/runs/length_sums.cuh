// Sums of the lengths of all sequences, in the shared memory of each block: it adds them up by itself, so that copies
// of jagged vectors given by lengths take one launch and no workspace. Users: jagged/runs/runs_by_lengths.cuh,
// jagged/runs/runs_ring.cuh.
//
//   lengths, coalesced ──► smem ──► sums before each sequence, or each kGroup-th ──► runs of rows that a warp asks for
//
// Where sequences are too many for shared memory, a warp adds up the lengths of 32 of a group for each question.
// Barriers  three for so many lengths as a block adds up at once: they are there; the warps' sums are; all sums are.
// Config    facts: LeftLength, RightLength, Offset (i32, i64, or tile::Dense where there is none); Row (i32 or i64, of
//           rows and sums of them); kAccessBytes (of an element: 8, 4, 2 or 1); kGroup and kEntries, sequences of a sum
//           that is stored, and such sums, at most; kEach, sequences of a thread whose lengths a block adds up at once;
//           kThreads, of a block.
#pragma once
#include "jagged/jagged_lengths.h"
#include "jagged/runs/block_scan.cuh"
#include "tile/jagged.cuh"

namespace hstu::tile {

// Of one sequence or of all before it: rows of the result, and another part's. Or, where Copy::kGivenOther, the row
// that the sequence comes from.
template <class Row>
struct alignas(2 * sizeof(Row)) RowSums {
  Row out, other;
};

// RowSums of what lies before sequence `first` and each of the `count` ones from there, and behind them; all counted
// from there. In kAcross columns: neither threads that have neighbours nor those that have kAcross sequences each
// conflict in a bank.
template <class Row, int kAcross, int kRows>
struct SumsBefore {
  const Row *out_sums, *other_sums;
  u32 first;
  int count;

  HSTU_PRIM static int place(int i) {
    return kAcross == 1 ? i : static_cast<int>(static_cast<u32>(i) % kAcross * kRows + static_cast<u32>(i) / kAcross);
  }
  HSTU_PRIM Row out(int i) const { return out_sums[place(i)]; }
  HSTU_PRIM Row other(int i) const { return other_sums[place(i)]; }
};

// What copies have in common.
template <class Config>
class VectorCopy {
 public:
  using Row = typename Config::Row;
  using Sums = RowSums<Row>;
  enum : bool { kGivenOther = false, kReordered = false, kSameRows = false };
  HSTU_PRIM static Sums sums_of(const Sums& lengths) { return lengths; }
  HSTU_PRIM static void finish(u32, const Sums&, const Sums&) {}
  HSTU_PRIM static i64 prefetch_base(u32) { return 0; }
  HSTU_PRIM static i64 prefetch_row(u32 warp, i64 each) { return warp * each; }

 protected:
  HSTU_PRIM static u64 address(const void* data, i64 row) {
    return reinterpret_cast<u64>(data) + static_cast<u64>(row * Config::kAccessBytes);
  }
};

template <class Config>
struct SumsStorage {
  enum : int { kEach = Config::kEach, kAtOnce = Config::kThreads * kEach, kWarps = Config::kThreads / 32 };
  enum : bool { kGroups = Config::kGroup > 1 };
  // Sums stored, or lengths that become such.
  enum : int { kPlaces = kGroups ? int{kAtOnce} : (Config::kEntries + kAtOnce - 1) / kAtOnce * kAtOnce };
  using Row = typename Config::Row;
  enum : int { kRows = (kPlaces + 128 / sizeof(Row)) / kEach };
  Row out[kEach * kRows], other[kEach * kRows];
  Row group_out[kGroups ? Config::kEntries + 1 : 1], group_other[kGroups ? Config::kEntries + 1 : 1];
  Row window[kGroups ? kWarps : 1][2][33];
  RowSums<Row> warp_sums[kWarps];
};

// Copy: what is written, on top of VectorCopy, constructed from the params; with
//   kRunsASequence, kOther (whether RowSums have it), kGivenOther
//   kReordered            whether lengths lie in another order: lengths_at(i) are the i-th, and sequences_at(i, step)
//                         those of the i-th length and of each step-th from there on
//   kOutputs, kSameRows   whether all outputs have the same rows; else pieces of the second one are spread among those
//                         of the first
//   lengths(sequence)     as they are given
//   sums_of(lengths)      RowSums of the sequence
//   out(output), rows_of(output), density(output)
//   key(output, sums)     the row of the output at which a sequence with these sums begins
//   Runs<Before>          runs as jagged/runs/runs.cuh has them, of an output and SumsBefore, counted from its first
//   read(), rows_read()   a tensor that is read
//   prefetch_base(warp) + prefetch_row(warp, each)  a row of it of about the first that go to an output, if each warp
//   has so
//                         many; the base comes from memory
//   finish(sequence, before, rows)  once for each sequence, by one block
template <class Config, class Copy>
class LengthSums {
 public:
  using Row = typename Config::Row;
  using Sums = RowSums<Row>;
  using Storage = SumsStorage<Config>;
  struct Rows {
    int output;
    Row low, high;
  };

  HSTU_PRIM LengthSums(const JaggedLengthsParams& p, Storage& storage) : p_(p), copy_(p), storage_(storage) {}

  // By the whole block; meanwhile() while the first lengths are in flight, behind() when they are there: neither
  // where there are none. A barrier is last.
  template <class Meanwhile, class Behind>
  HSTU_PRIM void add_up(const Meanwhile& meanwhile, const Behind& behind) const {
    Sums before_all = {0, 0};
#pragma unroll 1
    for (u32 first = 0; first < batch(); first += kAtOnce) {  // at most 2^31
      if (first > 0) __syncthreads();
      read_lengths(first, meanwhile, behind);
      add_up_at(first, before_all);
    }
    if (threadIdx.x == 0) {
      if constexpr (kGroups) {
        const u32 groups = (batch() + kGroup - 1) / kGroup;
        storage_.group_out[groups] = before_all.out;
        storage_.group_other[groups] = before_all.other;
      } else {
        storage_.out[Table::place(p_.batch)] = before_all.out;
        if constexpr (kOther) storage_.other[Table::place(p_.batch)] = before_all.other;
      }
    }
    __syncthreads();
    if constexpr (!kGroups) {
#pragma unroll 1
      for (u32 sequence = blockIdx.x * kThreads + threadIdx.x; sequence < batch(); sequence += gridDim.x * kThreads) {
        const Row before = storage_.out[Table::place(sequence)];
        copy_.finish(sequence, {before, 0}, {storage_.out[Table::place(sequence + 1)] - before, 0});
      }
    }
  }

  // visit(runs, low, high, run, last): runs of rows [low, high) of an output, of which `run` has the first; there are
  // sums as far as run `last`. For all rows, one after the other, that sums are at hand of, until it is false.
  template <class Visit>
  HSTU_PRIM void find_runs(Rows span, const Visit& visit) const {
    int drift = 0;
    find_runs(span, drift, visit);
  }
  // The same where a warp asks again and again: drift, 0 at first, is how many sequences lie between the one found and
  // where it were if all had as many rows, and changes little from one span to the next.
  template <class Visit>
  HSTU_PRIM void find_runs(Rows span, int& drift, const Visit& visit) const {
    if constexpr (kGroups) {
      visit_windows(span, visit);
    } else {
      const Table sums = {storage_.out, storage_.other, 0, p_.batch};
      const KeysOf<Table> keys{span.output, sums};
      const int even = even_sequence(copy_.density(span.output), span.low);
      const int found = find_sequence_around(keys, p_.batch, even + drift, span.low);
      drift = found - even;
      visit_runs(span, sums, found, visit);
    }
  }

 private:
  enum : int { kThreads = Config::kThreads, kWarps = kThreads / 32, kEach = Storage::kEach, kGroup = Config::kGroup };
  enum : int { kAtOnce = Storage::kAtOnce, kRunsASequence = Copy::kRunsASequence };
  enum : bool { kGroups = Storage::kGroups, kOther = Copy::kOther };
  using Table = SumsBefore<Row, kEach, Storage::kRows>;
  using Line = SumsBefore<Row, 1, 1>;

  HSTU_PRIM u32 batch() const { return static_cast<u32>(p_.batch); }

  template <class Meanwhile, class Behind>
  HSTU_PRIM void read_lengths(u32 first, const Meanwhile& meanwhile, const Behind& behind) const {
    Sums rows[kEach];
    const bool as_they_lie = reads_as_they_lie();
    if constexpr (kGroups) {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        rows[i] = first + own(i) < batch() ? copy_.sums_of(copy_.lengths(first + own(i))) : Sums{0, 0};
      if (first == 0) meanwhile();
    } else {
      // None is waited for before all are in flight and meanwhile() is done.
      if (__builtin_expect(as_they_lie, Copy::kReordered)) {
        if constexpr (Copy::kReordered) {
#pragma unroll
          for (int i = 0; i < kEach; ++i) rows[i] = copy_.lengths_at(min(own(i), batch() - 1));
        }
      } else {
#pragma unroll
        for (int i = 0; i < kEach; ++i) rows[i] = copy_.lengths(min(first + own(i), batch() - 1));
      }
      if (first == 0) meanwhile();
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        rows[i].out = prim::opaque(rows[i].out);
        if constexpr (kOther) rows[i].other = prim::opaque(rows[i].other);
        rows[i] = first + own(i) < batch() ? copy_.sums_of(rows[i]) : Sums{0, 0};
      }
    }
    if (as_they_lie) {
      if constexpr (Copy::kReordered) {
        auto of = copy_.sequences_at(own(0), kThreads);
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
          keep_length(own(i) < batch() ? of.sequence() : own(i), rows[i]);
          of.go_on();
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i) keep_length((kGroups ? 0 : first) + own(i), rows[i]);
    }
    if (first == 0) behind();
    __syncthreads();
  }
  // This thread's i-th length of those that are read at once.
  HSTU_PRIM static u32 own(int i) { return i * kThreads + threadIdx.x; }
  HSTU_PRIM void keep_length(u32 i, const Sums& rows) const {
    const int at = Table::place(static_cast<int>(i));
    storage_.out[at] = rows.out;
    if constexpr (kOther) storage_.other[at] = rows.other;
  }

  // Lengths that lie in another order than that of the sequences are read as they lie, if the block has all at once.
  HSTU_PRIM bool reads_as_they_lie() const { return Copy::kReordered && !kGroups && batch() <= kAtOnce; }

  // Puts the sums before them where lengths were. Neighbours are a thread's.
  HSTU_PRIM void add_up_at(u32 first, Sums& before_all) const {
    const u32 lane = prim::lane_id(), warp = threadIdx.x / 32;
    const u32 mine = threadIdx.x * kEach;
    const int at = Table::place(static_cast<int>((kGroups ? 0 : first) + mine));
    Sums rows[kEach], sum = {0, 0};
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      rows[i] = {storage_.out[at + i * Storage::kRows], kOther ? storage_.other[at + i * Storage::kRows] : Row{0}};
      sum.out += rows[i].out;
      if constexpr (sums_other()) sum.other += rows[i].other;
    }
    Sums before = sum;
    add_before(before.out, lane);
    if constexpr (sums_other()) add_before(before.other, lane);
    if (lane == 31) storage_.warp_sums[warp] = before;
    __syncthreads();
    Sums of_warps = lane < kWarps ? storage_.warp_sums[lane] : Sums{0, 0};
    const Sums here = before_all;
    before.out += here.out - sum.out;
    before.other += here.other - sum.other;
    add_warps(of_warps.out, before.out, before_all.out);
    if constexpr (sums_other()) add_warps(of_warps.other, before.other, before_all.other);
    const bool finishes = (first / (32 * kEach) + warp) % gridDim.x == blockIdx.x;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const u32 sequence = first + mine + i;
      if constexpr (kGroups) {
        if (sequence % kGroup == 0 && sequence < batch()) {
          storage_.group_out[sequence / kGroup] = before.out;
          storage_.group_other[sequence / kGroup] = before.other;
        }
      } else {
        storage_.out[at + i * Storage::kRows] = before.out;
        if constexpr (sums_other()) storage_.other[at + i * Storage::kRows] = before.other;
      }
      if (kGroups && finishes && sequence < batch()) copy_.finish(sequence, before, rows[i]);
      before.out += rows[i].out;
      if constexpr (sums_other()) before.other += rows[i].other;
    }
  }
  HSTU_PRIM static constexpr bool sums_other() { return kOther && !Copy::kGivenOther; }
  // Those of the warps in front to one sum, those of all to the other.
  HSTU_PRIM static void add_warps(Row of_warps, Row& before, Row& all) {
    const u32 warp = threadIdx.x / 32;
    add_before(of_warps, prim::lane_id());
    all += __shfl_sync(prim::kFullWarp, of_warps, 31);
    const Row in_front = __shfl_sync(prim::kFullWarp, of_warps, static_cast<int>((warp + 31) % 32));
    if (warp > 0) before += in_front;
  }

  // Those of the sums' i-th sequence and further ones; then the span begins behind the last. Whether to go on.
  template <class Before, class Visit>
  HSTU_PRIM bool visit_runs(Rows& span, const Before& sums, int i, const Visit& visit) const {
    using Runs = typename Copy::template Runs<Before>;
    const Runs runs(p_, span.output, sums);
    int run = i * kRunsASequence;
    if (kRunsASequence == 2 && runs.start(run + 1) <= span.low) ++run;
    const int last = sums.count * kRunsASequence;
    const Row low = span.low, high = min(span.high, runs.start(last));
    span.low = high;
    return low >= high || visit(runs, low, high, run, last);
  }

  // Finds the group, and adds up 32 lengths after the other from there.
  template <class Visit>
  HSTU_PRIM void visit_windows(Rows& span, const Visit& visit) const {
    const u32 lane = prim::lane_id();
    const int groups = static_cast<int>((batch() + kGroup - 1) / kGroup);
    const Line of_groups = {storage_.group_out, storage_.group_other, 0, groups};
    const int group =
        find_sequence_near(KeysOf<Line>{span.output, of_groups}, groups, copy_.density(span.output) / kGroup, span.low);
    Sums before = {of_groups.out(group), of_groups.other(group)};
    Row(&window)[2][33] = storage_.window[threadIdx.x / 32];
#pragma unroll 1
    for (u32 first = static_cast<u32>(group) * kGroup; first < batch() && span.low < span.high; first += 32) {
      const Sums rows = first + lane < batch() ? copy_.sums_of(copy_.lengths(first + lane)) : Sums{0, 0};
      Sums after = rows;
      add_before(after.out, lane);
      if constexpr (sums_other()) add_before(after.other, lane);
      after.out += before.out;
      after.other = sums_other() ? after.other + before.other : rows.other;
      const Sums all = {__shfl_sync(prim::kFullWarp, after.out, 31), __shfl_sync(prim::kFullWarp, after.other, 31)};
      if (copy_.key(span.output, all) > span.low) {
        __syncwarp();
        if (lane == 0) window[0][0] = before.out;
        if (lane == 0 && sums_other()) window[1][0] = before.other;
        window[0][lane + 1] = after.out;
        window[1][lane + (sums_other() ? 1 : 0)] = after.other;
        __syncwarp();
        const Line sums = {window[0], window[1], first, static_cast<int>(min(32u, batch() - first))};
        const KeysOf<Line> keys{span.output, sums};
        if (!visit_runs(span, sums, find_sequence_together(keys, 0, sums.count, span.low), visit)) return;
      }
      before = all;
    }
  }

  template <class Before>
  struct KeysOf {
    int output;
    const Before& sums;
    HSTU_PRIM Row start(int i) const { return Copy::key(output, {sums.out(i), sums.other(i)}); }
  };

  const JaggedLengthsParams& p_;
  const Copy copy_;
  Storage& storage_;
};

}  // namespace hstu::tile
