// Copies of jagged vectors whose sequences are given by lengths, sm_90, in one launch and without a workspace: what is
// read passes through shared memory by bulk copies, so that no register waits for it.
//
//   lengths ──► sums of a block (jagged/runs/length_sums.cuh) ──► producer warp: the runs that a chunk comes from, a
//   lane each run ──bulk copy──► stage of kStages ──► consumer warps: pieces of 16 bytes, put in place by two reads ──►
//   result
//
// Work      Persistent, a block an SM. It has kPipes pipes of a producer warp, kConsumers warps and a ring of stages.
//           Chunks of the result, kChunkBytes from a line of memory on, come from the launch's counter
//           (tile/tile_counter.cuh), each prefetched a chunk ahead. A stage takes up to 32 runs; what a chunk has
//           beyond goes to the next one.
// Memory    A run is read with all that shares 16 bytes with it, where the tensor has that; at the tensor's ends
//           element by element. Where copies of the same rows go to two results they are read once.
// Limits    Memory, and a start of 3 us until sums are there and a first chunk is asked for: meanwhile what is read
//           first comes to L2. A producer takes 0.8 us a chunk of one run. On an H200, of a device copy of as many
//           bytes: concatenation of 142,606,336 elements of 4 bytes in 4096 sequences 97 % (a plain copying kernel
//           101), transposition of 134,217,728 95, removal 96 (a plain one 99), of a quarter as many elements 87 to
//           91, of those in 65536 sequences 60 and 58.
// Barriers  full[s]: producer → consumers, counts bytes. empty[s]: consumers → producer. Every lane arrives for itself:
//           racecheck does not follow one that arrives for its warp.
// Config    of jagged/runs/length_sums.cuh; knobs: kPipes, kConsumers, kStages, kChunkBytes.
// Tried     docs/experiments/jagged.md
#pragma once
#include "jagged/runs/length_sums.cuh"
#include "jagged/runs/runs.cuh"
#include "prim/bulk.cuh"
#include "prim/mbarrier.cuh"
#include "prim/proxy.cuh"
#include "tile/tile_counter.cuh"

namespace hstu::tile {

template <class Config>
struct RunsRingStorage {
  // A run takes up to 30 bytes more than it has. A piece is read with the 16 bytes behind it.
  enum : int { kStages = Config::kPipes * Config::kStages, kRuns = 32, kStageBytes = Config::kChunkBytes + 32 * kRuns };
  unsigned char data[kStages][kStageBytes], behind[16];
  // Runs, in bytes of the chunk: where each begins, and what to add for its place in shared memory.
  int start[kStages][kRuns];
  u32 place[kStages][kRuns];
  struct Header {
    char* out;  // of the chunk's byte 0
    char* second;
    int low, high, runs, unused;  // bytes of the chunk that are written; no runs: the end
  } header[kStages];
  u64 full[kStages], empty[kStages];
  SumsStorage<Config> sums;
  DynamicTileScheduler scheduler{nullptr};
  u32 ended, unused;  // pipes
};

template <class Config>
constexpr int runs_ring_smem_bytes = static_cast<int>(sizeof(RunsRingStorage<Config>));

// Copy: as jagged/runs/length_sums.cuh has it. Where kSameRows, the first output's rows come from one row further.
template <class Config, class Copy>
class RunsRing {
  using Storage = RunsRingStorage<Config>;
  using AllSums = LengthSums<Config, Copy>;
  using Row = typename Config::Row;
  enum : int { kPipes = Config::kPipes, kConsumers = Config::kConsumers, kStages = Config::kStages };
  enum : int {
    kBytes = Config::kAccessBytes,
    kChunkRows = Config::kChunkBytes / kBytes,
    kWarps = Config::kThreads / 32
  };
  enum : int { kPartBytes = 512, kParts = Config::kChunkBytes / kPartBytes, kRuns = Storage::kRuns };
  enum : int { kPrefetchBytes = (80 << 10) / kWarps / 128 * 128, kNever = 0x7fffffff };
  enum : u32 { kSteps = Copy::kSameRows ? Copy::kOutputs : 1 };  // of a unit
  static_assert(kWarps == kPipes * (1 + kConsumers), "a pipe has a producer and its consumers");

  const JaggedLengthsParams& p_;
  const Copy copy_;
  Storage& storage_;
  const AllSums sums_;

 public:
  HSTU_PRIM RunsRing(const JaggedLengthsParams& p, unsigned char* smem)
      : p_(p), copy_(p), storage_(*reinterpret_cast<Storage*>(smem)), sums_(p, storage_.sums) {}

  HSTU_PRIM void run() {
    i64 ahead = 0;
    sums_.add_up(
        [this, &ahead] {
          if (threadIdx.x == Config::kThreads - 1) init_barriers();
          if (threadIdx.x == 0) claim();
          ahead = copy_.prefetch_base(warp_of_all());
        },
        [this, &ahead] { prefetch_l2(ahead); });
    if (p_.units == 0) return;
    const int warp = static_cast<int>(prim::warp_id()), pipe = warp / (1 + kConsumers), role = warp % (1 + kConsumers);
    if (role == 0)
      produce(pipe * kStages, pipe);
    else
      consume(pipe * kStages, role - 1);
  }

 private:
  HSTU_PRIM void init_barriers() const {
#pragma unroll 1
    for (int s = 0; s < Storage::kStages; ++s) {
      prim::mbarrier_init(full(s), 32);
      prim::mbarrier_init(empty(s), kConsumers * 32);
    }
    prim::mbarrier_fence_init();
  }
  HSTU_PRIM bool is_counted() const { return p_.units > p_.static_units; }
  HSTU_PRIM void claim() {
    storage_.ended = 0;
    if (!is_counted()) return;
    DynamicTileScheduler scheduler(static_cast<TileCounter*>(p_.tile_counters));
    scheduler.claim();
    storage_.scheduler = scheduler;
  }

  // What is read first, about: as if lengths were alike. It comes from memory while they are added up.
  HSTU_PRIM static u32 warp_of_all() { return blockIdx.x * kWarps + threadIdx.x / 32; }
  HSTU_PRIM void prefetch_l2(i64 base) const {
    if (p_.units <= gridDim.x * kPipes || prim::lane_id() != 0) return;
    const i64 row = base + copy_.prefetch_row(warp_of_all(), kPrefetchBytes / kBytes);
    if (row + kPrefetchBytes / kBytes + 16 > copy_.rows_read()) return;
    const u64 from = (reinterpret_cast<u64>(copy_.read()) + static_cast<u64>(row * kBytes) + 15) & ~15ull;
    prim::bulk_prefetch_l2(reinterpret_cast<const char*>(from), kPrefetchBytes);
  }

  // Rows [low, high) of an output, or of both, are still to be read; row is the chunk's first.
  struct Chunk {
    int output;
    bool both;
    Row row, low, high;
  };
  HSTU_PRIM Chunk chunk_of(u32 unit, u32 step) const {
    int output = 0;
    bool both = false;
    if constexpr (Copy::kSameRows) {
      both = (reinterpret_cast<u64>(copy_.out(0)) - reinterpret_cast<u64>(copy_.out(1))) % 128 == 0;
      output = kSteps - 1 - static_cast<int>(step);
      if (both && step > 0) return {output, false, 0, 0, 0};
    } else if constexpr (Copy::kOutputs == 2) {
      const u32 before = share(unit);
      output = share(unit + 1) > before;
      unit = output ? before : unit - before;
    }
    const Row behind = static_cast<Row>(reinterpret_cast<u64>(copy_.out(output)) % 128 / kBytes);
    const Row row = static_cast<Row>(unit) * kChunkRows - behind;
    return {output, both, row, max(row, Row{0}), min(row + kChunkRows, copy_.rows_of(output))};
  }
  // Units of the second output among the first ones of all.
  HSTU_PRIM u32 share(u32 units) const {
    return static_cast<u32>(static_cast<u64>(units) * static_cast<u64>(p_.right_share) >> 32);
  }

  // A pipe's chunks, one after the other, for a whole warp. The next unit is asked for as soon as one begins.
  class Chunks {
    enum : int { kDrifts = Copy::kSameRows ? 1 : Copy::kOutputs };

   public:
    Chunk chunk = {0, false, 0, 0, 0};
    HSTU_PRIM Chunks(const RunsRing& all, int pipe) : units_(all.p_.units) {
      next_ = blockIdx.x + static_cast<u32>(pipe) * gridDim.x;
      go_on(all);
    }
    HSTU_PRIM bool left() const { return unit_ < units_; }
    // What find_runs keeps from one chunk of an output to the next.
    HSTU_PRIM int drift() const { return kDrifts == 2 && chunk.output == 1 ? drift_[kDrifts - 1] : drift_[0]; }
    HSTU_PRIM void keep_drift(int drift) {
      if (kDrifts == 2 && chunk.output == 1)
        drift_[kDrifts - 1] = drift;
      else
        drift_[0] = drift;
    }
    // Rows before `end` are read.
    HSTU_PRIM void done(const RunsRing& all, Row end) {
      chunk.low = end;
      go_on(all);
    }

   private:
    HSTU_PRIM void go_on(const RunsRing& all) {
#pragma unroll 1
      while (chunk.low >= chunk.high && left()) {
        if (++step_ >= kSteps) {
          step_ = 0;
          unit_ = prim::uniform(next_);
          if (asked_) unit_ = min(unit_ + all.p_.static_units, units_);
          if (!left()) return;
          asked_ = all.is_counted() && unit_ + gridDim.x * kPipes >= all.p_.static_units;
          if (!asked_)
            next_ = min(unit_ + gridDim.x * kPipes, units_);
          else if (prim::lane_id() == 0)
            next_ = all.storage_.scheduler.prefetch_index();
        }
        chunk = all.chunk_of(unit_, step_);
      }
    }
    const u32 units_;
    // next: the first lane's, not waited for before it is needed; asked: from the launch's counter, counted from the
    // statically scheduled units.
    u32 unit_ = 0, step_ = kSteps, next_;
    bool asked_ = false;
    int drift_[kDrifts] = {};
  };

  HSTU_PRIM u32 full(int stage) const { return prim::smem_addr(&storage_.full[stage]); }
  HSTU_PRIM u32 empty(int stage) const { return prim::smem_addr(&storage_.empty[stage]); }

  // Stages of a pipe, from its first on, and the parity that their barriers are waited for with.
  struct PipelineState {
    int stage = 0;
    u32 parity;
    HSTU_PRIM void advance() {
      if (++stage < kStages) return;
      stage = 0;
      parity ^= 1;
    }
  };

  HSTU_PRIM void produce(int first_stage, int pipe) {
    PipelineState state{0, 1};
    Chunks chunks(*this, pipe);
#pragma unroll 1
    while (chunks.left()) {
      prim::mbarrier_wait(empty(first_stage + state.stage), state.parity);
      if (fill(first_stage + state.stage, chunks)) state.advance();
    }
    const int stage = first_stage + state.stage;
    prim::mbarrier_wait(empty(stage), state.parity);
    const bool leads = prim::lane_id() == 0;
    if (leads) storage_.header[stage].runs = 0;
    prim::mbarrier_arrive(full(stage));
    if (leads && is_counted() && atomicAdd(&storage_.ended, 1u) == kPipes - 1) storage_.scheduler.leave();
  }

  HSTU_PRIM void consume(int first_stage, int consumer) const {
    PipelineState state{0, 0};
#pragma unroll 1
    while (true) {
      const int stage = first_stage + state.stage;
      prim::mbarrier_wait(full(stage), state.parity);
      const auto& header = storage_.header[stage];
      if (header.runs == 0) return;
      write(stage, consumer, header.out, 0);
      if (Copy::kSameRows && header.second != nullptr) write(stage, consumer, header.second, kBytes);
      prim::mbarrier_arrive(empty(stage));
      state.advance();
    }
  }

  // Brings runs of the chunk to a stage, as many as it has room for. Whether there were any.
  HSTU_PRIM bool fill(int stage, Chunks& chunks) const {
    const Chunk chunk = chunks.chunk;
    Row end = chunk.low;
    int drift = chunks.drift();
    sums_.find_runs({chunk.output, chunk.low, chunk.high}, drift, Loads{*this, stage, chunk, end});
    chunks.keep_drift(drift);
    chunks.done(*this, end > chunk.low ? end : chunk.high);
    return end > chunk.low;
  }
  struct Loads {
    const RunsRing& all;
    const int stage;
    const Chunk& chunk;
    Row& end;
    template <class Runs>
    HSTU_PRIM bool operator()(const Runs& runs, Row low, Row high, int run, int last) const {
      end = all.load(stage, chunk, runs, low, high, run, last);
      return false;
    }
  };

  // Rows [low, high), of which run `first` has the first. The row behind those that the stage has room for.
  template <class Runs>
  HSTU_PRIM Row load(int stage, const Chunk& chunk, const Runs& runs, Row low, Row high, int first, int last) const {
    const u32 lane = prim::lane_id();
    const int run = min(first + static_cast<int>(lane), last - 1);
    const Row start = runs.start(run), next = runs.start(run + 1);
    const bool mine = (lane == 0) | ((first + static_cast<int>(lane) < last) & (start < high));
    const int count = __popc(__ballot_sync(prim::kFullWarp, mine));
    const Row begin = mine ? max(start, low) : high;
    Row end = mine ? next : high;
    if (count == kRuns) high = min(high, __shfl_sync(prim::kFullWarp, end, kRuns - 1));
    end = min(end, high);
    const u64 first_row = runs.from(run);
    const bool some = begin < end;
    const u64 from = some ? first_row + static_cast<u64>(static_cast<i64>(begin) * kBytes) : 0;
    const u64 to = some ? from + static_cast<u32>((end - begin) * kBytes + (chunk.both ? kBytes : 0)) : 0;
    const u64 around = from & ~15ull, around_end = (to + 15) & ~15ull;  // of which the tensor has [got, got_end)
    const u64 got = some ? max(around, (runs.begin(run) + 15) & ~15ull) : 0;
    const u64 got_end = some ? max(got, min(around_end, runs.end(run) & ~15ull)) : 0;
    const u32 size = static_cast<u32>(around_end - around), bytes = static_cast<u32>(got_end - got);
    u32 before = 0;
    if (count > 1) {
      before = size;
      add_before(before, lane);
      before -= size;
    }
    const u32 at = prim::smem_addr(storage_.data[stage]) + before;
    const int chunk_at = static_cast<int>(begin - chunk.row) * kBytes;
    if (bytes != size) {
      copy_ends(storage_.data[stage] + before, from, to, got, got_end);
      prim::fence_async_shared();
    }
    if (bytes != 0)
      prim::bulk_load(at + static_cast<u32>(got - around), reinterpret_cast<const void*>(got), bytes, full(stage));
    storage_.start[stage][lane] = mine ? chunk_at : int{kNever};
    storage_.place[stage][lane] = at + static_cast<u32>(from - around) - static_cast<u32>(chunk_at);
    if (lane == 0) {
      const i64 row_bytes = static_cast<i64>(chunk.row) * kBytes;
      storage_.header[stage] = {copy_.out(chunk.output) + row_bytes,
                                chunk.both ? copy_.out(0) + row_bytes : nullptr,
                                static_cast<int>(low - chunk.row) * kBytes,
                                static_cast<int>(high - chunk.row) * kBytes,
                                count,
                                0};
    }
    // The phase ends neither before the last lane has arrived, its copy under way, nor before all bytes have come.
    prim::mbarrier_arrive_expect_tx(full(stage), bytes);
    return high;
  }

  // Elements of [from, to) that are not in [got, got_end), fewer than 16 bytes at each end of a tensor.
  HSTU_PRIM static void copy_ends(unsigned char* data, u64 from, u64 to, u64 got, u64 got_end) {
    const u64 around = from & ~15ull;
#pragma unroll 1
    for (u64 a = from; a < to; a += kBytes) {
      if (a >= got && a < got_end) a = got_end;
      if (a >= to) return;
      Piece<kBytes> element;
      element.load(reinterpret_cast<const void*>(a));
      element.store_shared(prim::smem_addr(data) + static_cast<u32>(a - around));
    }
  }

  // 16 bytes of a stage from anywhere.
  HSTU_PRIM static prim::Quad staged(u32 from) {
    const u32 shift = from % 16;
    const prim::Quad low = prim::ld_shared(from - shift);
    return shift == 0 ? low : joined<kBytes>(low, prim::ld_shared(from - shift + 16), shift);
  }

  // Writes a consumer's parts of a chunk, from `further` bytes behind their places.
  HSTU_PRIM void write(int stage, int consumer, char* out, u32 further) const {
    const auto& header = storage_.header[stage];
    const int lane = static_cast<int>(prim::lane_id()), low = header.low, high = header.high;
    if (header.runs == 1 && low == 0 && high == Config::kChunkBytes) {
      const u32 from = storage_.place[stage][0] + further + lane * 16;
#pragma unroll 4
      for (int part = consumer; part < kParts; part += kConsumers)
        prim::st_global(out + lane * 16 + part * kPartBytes, staged(from + static_cast<u32>(part * kPartBytes)));
      return;
    }
    const int start = storage_.start[stage][lane];
    const u32 place = storage_.place[stage][lane] + further;
#pragma unroll 1
    for (int part = consumer; part < kParts; part += kConsumers) {
      const int here = part * kPartBytes, piece = here + lane * 16;
      if (here + kPartBytes <= low || here >= high) continue;
      const int first = max(__popc(__ballot_sync(prim::kFullWarp, start <= here)) - 1, 0);
      const int last = __popc(__ballot_sync(prim::kFullWarp, start < here + kPartBytes));
      int run = first, next = kNever;
#pragma unroll 1
      for (int r = first + 1; r < last; ++r) {
        const int begin = __shfl_sync(prim::kFullWarp, start, r);
        if (begin <= piece)
          run = r;
        else
          next = min(next, begin);
      }
      const u32 from = __shfl_sync(prim::kFullWarp, place, run) + static_cast<u32>(piece);
      if (piece >= low && piece + 16 <= min(high, next))
        prim::st_global(out + piece, staged(from));
      else
        write_elements(stage, out, further, max(piece, low), min(piece + 16, high), run, last);
    }
  }
  HSTU_PRIM void write_elements(int stage, char* out, u32 further, int low, int high, int run, int last) const {
#pragma unroll 1
    for (int at = low; at < high; at += kBytes) {
      while (run + 1 < last && storage_.start[stage][run + 1] <= at) ++run;
      Piece<kBytes> element;
      element.load_shared(storage_.place[stage][run] + further + static_cast<u32>(at));
      element.store(out + at);
    }
  }
};

}  // namespace hstu::tile
