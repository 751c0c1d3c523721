// Copies of jagged vectors whose sequences are given by lengths, in one launch and without a workspace: a block adds up
// all lengths by itself and keeps the sums in shared memory, then its warps copy spans of the result as they come.
//
//   lengths, coalesced ──► smem ──► sums before each sequence, or each kGroup-th ──► a warp's span: its runs, copied
//   (tile/runs.cuh) ──► the next span
//
// Work      Blocks stay. Units of spans are dealt to their warps, and the last ones handed out by the launch's counter
//           (tile/tile_counter.cuh): SMs differ in speed, but one counter hands out 600 a microsecond at most. While a
//           span is on its way the warp finds out where the next one comes from. Where sequences are too many for
//           shared memory, it adds up the lengths of 32 of a group for that.
// Limits    On an H200, 35,651,584 elements of 4 bytes in 4096 sequences, of a copy: concatenation 78 %, splitting 79,
//           transposition 77, removal 81; 65,536 sequences 42 and 43. A plain copy of as many bytes has 96. What is
//           busy, concatenating: 42 % of issue slots, 65 of DRAM, 75 of L2; warps wait for memory, and for the blocks
//           that end last. A fourth of the units handed out costs 4 % more than a sixteenth.
// Barriers  three for so many lengths as a block adds up at once: they are there; the warps' sums are; all sums are.
// Config    facts: LeftLength, RightLength, Offset (i32, i64, or tile::Dense where there is none); Row (i32 or i64, of
//           rows and sums of them); kAccessBytes (of an element: 8, 4, 2 or 1); kGroup and kEntries, sequences of a sum
//           that is kept, and such sums, at most; kEach, sequences of a thread whose lengths a block adds up at once.
//           knobs: kThreads, kAccesses (pieces of 16 bytes of a thread on their way at once), kSpans (of a unit),
//           kMinBlocks.
#pragma once
#include "params/jagged_lengths.h"
#include "tile/block_scan.cuh"
#include "tile/runs.cuh"
#include "tile/tile_counter.cuh"

namespace hstu::tile {

// Of one sequence or of all before it: rows of the result, and another part's. Or, where Copy::kGivenOther, the row
// that the sequence comes from.
template <class Row>
struct alignas(2 * sizeof(Row)) RowSums {
  Row out, other;
};

// RowSums of what lies before sequence `first` and each of the `count` ones from there, and behind them; all counted
// from there. In kAcross columns: neither threads that have neighbours nor those that have kAcross sequences each meet
// in a bank.
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
  enum : bool { kGivenOther = false, kSameRows = false };
  HSTU_PRIM static void finish(u32, const Sums&, const Sums&) {}
  HSTU_PRIM static i64 row_ahead(u32 warp, i64 each) { return warp * each; }

 protected:
  HSTU_PRIM static u64 address(const void* data, i64 row) {
    return reinterpret_cast<u64>(data) + static_cast<u64>(row * Config::kAccessBytes);
  }
};

template <class Config>
struct RunsStorage {
  enum : int { kEach = Config::kEach, kAtOnce = Config::kThreads * kEach, kWarps = Config::kThreads / 32 };
  enum : bool { kGroups = Config::kGroup > 1 };
  // Sums kept, or lengths that become such.
  enum : int { kPlaces = kGroups || Config::kEntries < kAtOnce ? int{kAtOnce} : int{Config::kEntries} };
  using Row = typename Config::Row;
  enum : int { kRows = (kPlaces + 128 / sizeof(Row)) / kEach };
  Row out[kEach * kRows], other[kEach * kRows];
  Row group_out[kGroups ? Config::kEntries + 1 : 1], group_other[kGroups ? Config::kEntries + 1 : 1];
  Row window[kGroups ? kWarps : 1][2][33];
  RowSums<Row> warp_sums[kWarps];
  TileTaker taker{nullptr};
  u32 ended, unused;  // warps
};

template <class Config>
constexpr int runs_by_lengths_smem_bytes = static_cast<int>(sizeof(RunsStorage<Config>));

// Copy: what is written, on top of VectorCopy, constructed from the params; with
//   kRunsASequence, kOther (whether RowSums have it), kGivenOther
//   kOutputs, kSameRows   whether all outputs have the same rows, which are then copied together; else a warp's spans
//                         are of one, those of the second spread among the first's
//   rows(sequence)        RowSums of one
//   out(output), rows_of(output), density(output)
//   key(output, sums)     the row of the output at which a sequence with these sums begins
//   Runs<Before>          runs as tile/runs.cuh has them, of an output and SumsBefore, counted from its first
//   read(), rows_read()   a tensor that is read
//   row_ahead(warp, each) a row of it of about the first that go to an output, if each warp has so many
//   finish(sequence, before, rows)  once for each sequence, by one block
template <class Config, class Copy>
class RunsByLengths {
  using Storage = RunsStorage<Config>;
  enum : int { kThreads = Config::kThreads, kWarps = kThreads / 32, kEach = Storage::kEach, kGroup = Config::kGroup };
  enum : int { kAtOnce = Storage::kAtOnce, kRunsASequence = Copy::kRunsASequence, kBytes = Config::kAccessBytes };
  enum : int { kSpanRows = Config::kAccesses * 512 / kBytes };
  enum : bool { kGroups = Storage::kGroups, kOther = Copy::kOther };
  enum : int { kAheadBytes = 4096 };                                                // of a warp
  enum : u32 { kSteps = Config::kSpans * (Copy::kSameRows ? Copy::kOutputs : 1) };  // of a unit
  using Row = typename Config::Row;
  using Sums = RowSums<Row>;
  using Table = SumsBefore<Row, kEach, Storage::kRows>;
  using Line = SumsBefore<Row, 1, 1>;

  const JaggedLengthsParams& p_;
  const Copy copy_;
  Storage& storage_;

 public:
  HSTU_PRIM RunsByLengths(const JaggedLengthsParams& p, unsigned char* smem)
      : p_(p), copy_(p), storage_(*reinterpret_cast<Storage*>(smem)) {}

  HSTU_PRIM void run() {
    add_up();
    Turns turns(*this);
    Place place = {nullptr, 0};
    if (turns.left()) place = place_of(turns.unit, turns.step);
#pragma unroll 1
    while (turns.left()) {
      const u32 unit = turns.unit, step = turns.step;
      SpanOnItsWay<kBytes, Config::kAccesses> span;
      if (place.from != 0) span.load(place.from);
      turns.go_on(*this);
      Place next = {nullptr, 0};
      if (turns.left()) next = place_of(turns.unit, turns.step);  // meanwhile
      if (place.from != 0)
        span.store(place.to, place.from);
      else
        copy_runs(unit, step);
      place = next;
    }
    if (is_counted() && prim::lane_id() == 0 && atomicAdd(&storage_.ended, 1u) == kWarps - 1) storage_.taker.leave();
  }

 private:
  HSTU_PRIM static u32 all_warps() { return gridDim.x * kWarps; }
  HSTU_PRIM bool is_counted() const { return p_.units > p_.dealt_units; }
  HSTU_PRIM void claim() {
    storage_.ended = 0;
    if (!is_counted()) return;
    TileTaker taker(static_cast<TileCounter*>(p_.tile_counters));
    taker.claim();
    storage_.taker = taker;
  }

  // The steps of a warp: units that are dealt, then those that it takes, each asked for a unit ahead.
  struct Turns {
    u32 unit, step = 0;
    HSTU_PRIM explicit Turns(const RunsByLengths& all) : units_(all.p_.units) {
      unit = blockIdx.x * kWarps + threadIdx.x / 32;
      if (unit < units_) next_ = after(all, unit);
    }
    HSTU_PRIM bool left() const { return unit < units_; }
    HSTU_PRIM void go_on(const RunsByLengths& all) {
      if (++step < kSteps) return;
      step = 0;
      unit = prim::uniform(next_);
      if (unit < units_) next_ = after(all, unit);
    }

   private:
    HSTU_PRIM u32 after(const RunsByLengths& all, u32 unit) const {
      if (unit + all_warps() < all.p_.dealt_units) return unit + all_warps();
      if (!all.is_counted() || prim::lane_id() != 0) return units_;
      return all.p_.dealt_units + all.storage_.taker.take() - gridDim.x;
    }
    const u32 units_;
    u32 next_ = 0;  // the first lane's
  };

  HSTU_PRIM void add_up() {
    Sums before_all = {0, 0};
    if (p_.batch == 0 && threadIdx.x == 0) claim();
#pragma unroll 1
    for (u32 first = 0; first < batch(); first += kAtOnce) {  // at most 2^31
      if (first > 0) __syncthreads();
      read_lengths(first);
      add_up(first, before_all);
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
  }

  HSTU_PRIM u32 batch() const { return static_cast<u32>(p_.batch); }

  HSTU_PRIM void read_lengths(u32 first) {
    Sums rows[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const u32 sequence = first + i * kThreads + threadIdx.x;
      rows[i] = sequence < batch() ? copy_.rows(sequence) : Sums{0, 0};
    }
    if (first == 0) {  // meanwhile
      bring_ahead();
      if (threadIdx.x == 0) claim();
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = Table::place(static_cast<int>((kGroups ? 0 : first) + i * kThreads + threadIdx.x));
      storage_.out[at] = rows[i].out;
      if constexpr (kOther) storage_.other[at] = rows[i].other;
    }
    __syncthreads();
  }

  // What the warps read first, about: by rows alone. It comes from memory while lengths are added up.
  HSTU_PRIM void bring_ahead() const {
    if (p_.units <= all_warps() || prim::lane_id() != 0) return;
    const i64 rows = copy_.rows_read(), each = kAheadBytes / kBytes;
    const i64 row = copy_.row_ahead(blockIdx.x * kWarps + threadIdx.x / 32, each);
    const u64 from = (reinterpret_cast<u64>(copy_.read()) + static_cast<u64>(row * kBytes)) & ~15ull;
    if (row > each && row + 2 * each <= rows) prim::bulk_prefetch_l2(reinterpret_cast<const char*>(from), kAheadBytes);
  }

  // Puts the sums before them where lengths were. Neighbours are a thread's.
  HSTU_PRIM void add_up(u32 first, Sums& before_all) {
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
      if (finishes && sequence < batch()) copy_.finish(sequence, before, rows[i]);
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

  // A step's span, which begins with a line of memory, where the output does not.
  struct Span {
    int output;
    Row row, low, high;
  };
  HSTU_PRIM Span span_of(u32 unit, u32 step) const {
    int output = 0;
    if constexpr (Copy::kSameRows) {
      output = static_cast<int>(step) % Copy::kOutputs;
      step /= Copy::kOutputs;
    } else if constexpr (Copy::kOutputs == 2) {
      const u32 before = share(unit);
      output = share(unit + 1) > before;
      unit = output ? before : unit - before;
    }
    const Row behind = static_cast<Row>(reinterpret_cast<u64>(copy_.out(output)) % 128 / kBytes);
    const Row row = static_cast<Row>(unit * Config::kSpans + step) * kSpanRows - behind;
    return {output, row, max(row, Row{0}), min(row + kSpanRows, copy_.rows_of(output))};
  }
  // Units of the second output among the first ones of all.
  HSTU_PRIM u32 share(u32 units) const {
    return static_cast<u32>(static_cast<u64>(units) * static_cast<u64>(p_.right_share) >> 32);
  }

  // Where a step's span goes and comes from; from 0, unless it is of one run.
  struct Place {
    char* to;
    u64 from;
  };
  HSTU_PRIM Place place_of(u32 unit, u32 step) const {
    const Span span = span_of(unit, step);
    Place place = {copy_.out(span.output) + static_cast<i64>(span.row) * kBytes, 0};
    if (span.low >= span.high) return place;
    find_runs(span, FindsPlace{place});
    return place;
  }
  struct FindsPlace {
    Place& place;
    template <class Copier>
    HSTU_PRIM bool operator()(const Copier& copier) const {
      place.from = copier.from();
      return false;
    }
  };
  HSTU_PRIM void copy_runs(u32 unit, u32 step) const {
    const Span span = span_of(unit, step);
    if (span.low < span.high) find_runs(span, Copies{});
  }
  struct Copies {
    template <class Copier>
    HSTU_PRIM bool operator()(const Copier& copier) const {
      copier.copy();
      return true;
    }
  };

  // visit(SpanCopier) with the span's runs, for so many of them as sums are at hand, until it is false.
  template <class Visit>
  HSTU_PRIM void find_runs(Span span, const Visit& visit) const {
    if constexpr (kGroups) {
      visit_windows(span, visit);
    } else {
      const Table sums = {storage_.out, storage_.other, 0, p_.batch};
      const KeysOf<Table> keys{span.output, sums};
      visit_runs(span, sums, find_sequence_near(keys, p_.batch, copy_.density(span.output), span.low), visit);
    }
  }

  // Those of the sums' i-th sequence and further ones; then the span begins behind the last. Whether to go on.
  template <class Before, class Visit>
  HSTU_PRIM bool visit_runs(Span& span, const Before& sums, int i, const Visit& visit) const {
    using Runs = typename Copy::template Runs<Before>;
    const Runs runs(p_, span.output, sums);
    int run = i * kRunsASequence;
    if (kRunsASequence == 2 && runs.start(run + 1) <= span.low) ++run;
    const int last = sums.count * kRunsASequence;
    const Row low = span.low, high = min(span.high, runs.start(last));
    span.low = high;
    return low >= high || visit(SpanCopier<kBytes, Config::kAccesses, Runs>(runs, copy_.out(span.output), span.row, low,
                                                                            high, run, last));
  }

  // Finds the group, and adds up 32 lengths after the other from there.
  template <class Visit>
  HSTU_PRIM void visit_windows(Span& span, const Visit& visit) const {
    const u32 lane = prim::lane_id();
    const int groups = static_cast<int>((batch() + kGroup - 1) / kGroup);
    const Line of_groups = {storage_.group_out, storage_.group_other, 0, groups};
    const int group =
        find_sequence_near(KeysOf<Line>{span.output, of_groups}, groups, copy_.density(span.output) / kGroup, span.low);
    Sums before = {of_groups.out(group), of_groups.other(group)};
    Row(&window)[2][33] = storage_.window[threadIdx.x / 32];
#pragma unroll 1
    for (u32 first = static_cast<u32>(group) * kGroup; first < batch() && span.low < span.high; first += 32) {
      const Sums rows = first + lane < batch() ? copy_.rows(first + lane) : Sums{0, 0};
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
};

}  // namespace hstu::tile
