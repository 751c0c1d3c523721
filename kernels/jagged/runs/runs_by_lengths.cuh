// Copies of jagged vectors whose sequences are given by lengths, in one launch and without a workspace: a block adds up
// all lengths by itself and keeps the sums in shared memory, then its warps copy spans of the result as they come.
//
//   sums of a block (jagged/runs/length_sums.cuh) ──► a warp's span: its runs, copied (jagged/runs/runs.cuh) ──► the
//   next span
//
// Work      Persistent. Units of spans are scheduled to warps statically, and the last ones by the launch's counter
//           (tile/tile_counter.cuh): SMs differ in speed, but one counter gives 600 a microsecond at most. While a
//           span is in flight the warp finds out where the next one comes from.
// Limits    On an H200, 35,651,584 elements of 4 bytes in 4096 sequences, of a copy: concatenation 78 %, splitting 79,
//           transposition 77, removal 81; 65,536 sequences 42 and 43. A plain copy of as many bytes has 96. What is
//           busy, concatenating: 42 % of issue slots, 65 of DRAM, 75 of L2; warps wait for memory, and for the blocks
//           that end last. A fourth of the units by the counter costs 4 % more than a sixteenth.
// Config    of jagged/runs/length_sums.cuh; knobs: kThreads, kAccesses (pieces of 16 bytes of a thread in flight at
//           once), kSpans (of a unit), kMinBlocks.
#pragma once
#include "jagged/runs/length_sums.cuh"
#include "jagged/runs/runs.cuh"
#include "tile/tile_counter.cuh"

namespace hstu::tile {

template <class Config>
struct RunsStorage {
  SumsStorage<Config> sums;
  DynamicTileScheduler scheduler{nullptr};
  u32 ended, unused;  // warps
};

template <class Config>
constexpr int runs_by_lengths_smem_bytes = static_cast<int>(sizeof(RunsStorage<Config>));

// Copy: as jagged/runs/length_sums.cuh has it.
template <class Config, class Copy>
class RunsByLengths {
  using Storage = RunsStorage<Config>;
  using AllSums = LengthSums<Config, Copy>;
  enum : int { kWarps = Config::kThreads / 32, kBytes = Config::kAccessBytes };
  enum : int { kSpanRows = Config::kAccesses * 512 / kBytes };
  enum : int { kPrefetchBytes = 4096 };                                             // of a warp
  enum : u32 { kSteps = Config::kSpans * (Copy::kSameRows ? Copy::kOutputs : 1) };  // of a unit
  using Row = typename Config::Row;

  const JaggedLengthsParams& p_;
  const Copy copy_;
  Storage& storage_;
  const AllSums sums_;

 public:
  HSTU_PRIM RunsByLengths(const JaggedLengthsParams& p, unsigned char* smem)
      : p_(p), copy_(p), storage_(*reinterpret_cast<Storage*>(smem)), sums_(p, storage_.sums) {}

  HSTU_PRIM void run() {
    sums_.add_up(
        [this] {
          prefetch_l2();
          if (threadIdx.x == 0) claim();
        },
        [] {});
    Steps steps(*this);
    Place place = {nullptr, 0};
    if (steps.left()) place = place_of(steps.unit, steps.step);
#pragma unroll 1
    while (steps.left()) {
      const u32 unit = steps.unit, step = steps.step;
      SpanInFlight<kBytes, Config::kAccesses> span;
      if (place.from != 0) span.load(place.from);
      steps.advance(*this);
      Place next = {nullptr, 0};
      if (steps.left()) next = place_of(steps.unit, steps.step);  // meanwhile
      if (place.from != 0)
        span.store(place.to, place.from);
      else
        copy_runs(unit, step);
      place = next;
    }
    if (is_counted() && prim::lane_id() == 0 && atomicAdd(&storage_.ended, 1u) == kWarps - 1)
      storage_.scheduler.leave();
  }

 private:
  HSTU_PRIM static u32 all_warps() { return gridDim.x * kWarps; }
  HSTU_PRIM bool is_counted() const { return p_.units > p_.static_units; }
  HSTU_PRIM void claim() {
    storage_.ended = 0;
    if (!is_counted()) return;
    DynamicTileScheduler scheduler(static_cast<TileCounter*>(p_.tile_counters));
    scheduler.claim();
    storage_.scheduler = scheduler;
  }

  // The steps of a warp: units scheduled statically, then those of the counter, each prefetched a unit ahead.
  struct Steps {
    u32 unit, step = 0;
    HSTU_PRIM explicit Steps(const RunsByLengths& all) : units_(all.p_.units) {
      unit = blockIdx.x * kWarps + threadIdx.x / 32;
      if (unit < units_) next_ = after(all, unit);
    }
    HSTU_PRIM bool left() const { return unit < units_; }
    HSTU_PRIM void advance(const RunsByLengths& all) {
      if (++step < kSteps) return;
      step = 0;
      unit = prim::uniform(next_);
      if (unit < units_) next_ = after(all, unit);
    }

   private:
    HSTU_PRIM u32 after(const RunsByLengths& all, u32 unit) const {
      if (unit + all_warps() < all.p_.static_units) return unit + all_warps();
      if (!all.is_counted() || prim::lane_id() != 0) return units_;
      return all.p_.static_units + all.storage_.scheduler.next_tile() - gridDim.x;
    }
    const u32 units_;
    u32 next_ = 0;  // the first lane's
  };

  // What the warps read first, about: as if lengths were alike. It comes from memory while lengths are added up.
  HSTU_PRIM void prefetch_l2() const {
    if (p_.units <= all_warps() || prim::lane_id() != 0) return;
    const i64 rows = copy_.rows_read(), each = kPrefetchBytes / kBytes;
    const u32 warp = blockIdx.x * kWarps + threadIdx.x / 32;
    const i64 row = copy_.prefetch_base(warp) + copy_.prefetch_row(warp, each);
    const u64 from = (reinterpret_cast<u64>(copy_.read()) + static_cast<u64>(row * kBytes)) & ~15ull;
    if (row > each && row + 2 * each <= rows)
      prim::bulk_prefetch_l2(reinterpret_cast<const char*>(from), kPrefetchBytes);
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
    sums_.find_runs({span.output, span.low, span.high}, FindsPlace{copy_.out(span.output), span.row, place});
    return place;
  }
  struct FindsPlace {
    char* out;
    Row row;
    Place& place;
    template <class Runs>
    HSTU_PRIM bool operator()(const Runs& runs, Row low, Row high, int run, int last) const {
      place.from = SpanCopier<kBytes, Config::kAccesses, Runs>(runs, out, row, low, high, run, last).from();
      return false;
    }
  };
  HSTU_PRIM void copy_runs(u32 unit, u32 step) const {
    const Span span = span_of(unit, step);
    if (span.low >= span.high) return;
    sums_.find_runs({span.output, span.low, span.high}, Copies{copy_.out(span.output), span.row});
  }
  struct Copies {
    char* out;
    Row row;
    template <class Runs>
    HSTU_PRIM bool operator()(const Runs& runs, Row low, Row high, int run, int last) const {
      SpanCopier<kBytes, Config::kAccesses, Runs>(runs, out, row, low, high, run, last).copy();
      return true;
    }
  };
};

}  // namespace hstu::tile
