// The threads of attn_bwd_sm90 that say which tiles come next, and that start their copies.
#pragma once
#include "attention/sm90/bwd_places.cuh"
#include "prim/tma.cuh"
#include "tile/jagged_map.cuh"
#include "tile/tile_counter.cuh"

namespace hstu::attn_bwd90 {

// Takes places from the counter, and says which tiles of own rows they have.
template <class Config>
struct Scheduler {
  using T = Shape<Config>;
  const AttnBwdParams& p;
  Storage<Config>& storage;
  PipelineState<kOwnSlots> slot;

  HSTU_PRIM OwnTile<Config>& open_slot() const {
    prim::mbarrier_wait(prim::smem_addr(&storage.slot_empty[slot.stage]), slot.parity ^ 1);
    return storage.own[slot.stage];
  }
  HSTU_PRIM void publish_slot() {
    prim::mbarrier_arrive(prim::smem_addr(&storage.slot_placed[slot.stage]));
    slot.advance();
  }

  HSTU_PRIM void take_place(int index) {
    const Place<Config> place(p, index);
    const typename Config::Sequences sequence(p.forward, place.seq);
    const int tiles = (sequence.keys + T::kOwn - 1) / T::kOwn;
#pragma unroll 1
    for (int tile = place.first_tile(tiles); tile >= 0 && tile < tiles; tile += place.stride()) {
      OwnTile<Config>& own = open_slot();
      own.row = sequence.row;
      own.count = sequence.keys;
      own.kind = place.kind;
      own.seq = place.seq;
      own.head = place.head;
      own.own = tile * T::kOwn;
      publish_slot();
    }
  }

  HSTU_PRIM void run() {
    const int count = Place<Config>::count(p);
    tile::DynamicTileScheduler scheduler(p.counters);
    bool claimed = false;
#pragma unroll 1
    for (int index = blockIdx.x; index < count; index = scheduler.next_tile()) {
      take_place(index);
      if (!claimed) scheduler.claim();  // only now, for the first place needs no counter
      claimed = true;
    }
    if (!claimed) scheduler.claim();
    scheduler.leave();
    open_slot().kind = kEnd;
    publish_slot();
  }
};

// Says which tiles of the other side own rows walk over: a warp, whose lanes ask about a tile each. The mask stays in
// shared memory, for they have few registers.
template <class Config>
struct Walker {
  using T = Shape<Config>;
  const AttnFwdParams& p;
  Storage<Config>& storage;
  PipelineState<T::kStages> stage;

  // What a tile's warpgroups see of one of the other side, in bits; 0: there is none.
  template <bool kKeySide>
  HSTU_PRIM static u32 sight(const OwnTile<Config>& own, int begin) {
    using At = Sight<Config, kKeySide>;
    u32 bits = 0;
#pragma unroll 1
    for (int group = 0; group < T::kConsumers; ++group) {
      const int first = own.own + group * 64;
      bits |= (static_cast<u32>(At::some(own.mask, own.count, first, begin)) |
               static_cast<u32>(At::all(own.mask, own.count, first, begin)) << kFullBits)
              << group;
    }
    return bits;
  }

  // The tile in the stage is described, but for whether it is the last.
  HSTU_PRIM void publish(bool is_last) {
    if (prim::lane_id() == 0) {
      storage.walk[stage.stage].is_last = is_last;
      prim::mbarrier_arrive(prim::smem_addr(&storage.described[stage.stage]));
    }
    stage.advance();
  }

  template <bool kKeySide>
  HSTU_PRIM void describe(OwnTile<Config>& own, u32 slot_full) {
    const int first = first_head<Config, kKeySide>(own.head), last = last_head<Config, kKeySide>(own.head);
    const bool leads = prim::lane_id() == 0;
    if (leads) variant::place_mask(own.mask, p, own.seq, first, own.row, own.count);
    __syncwarp();
    bool found = false;
#pragma unroll 1
    for (int head = first; head < last; ++head) {
#pragma unroll 1
      for (int rows = 0; rows < own.count; rows += 32 * T::kWalk) {
        const u32 mine = sight<kKeySide>(own, rows + static_cast<int>(prim::lane_id()) * T::kWalk);
        u32 exist = __ballot_sync(prim::kFullWarp, (mine & kSeenMask) != 0);
#pragma unroll 1
        for (; exist != 0; exist &= exist - 1) {
          const int lane = __ffs(exist) - 1;
          const u32 of_tile = __shfl_sync(prim::kFullWarp, mine, lane);
          if (found) {
            publish(false);
          } else if (leads) {
            own.is_alone = false;
            prim::mbarrier_arrive(slot_full);
          }
          found = true;
          if (!leads) continue;
          Ring<Config>(prim::smem_addr(storage.qk_ring)).acquire(stage, 0, false);
          WalkTile& tile = storage.walk[stage.stage];
          tile.begin = rows + lane * T::kWalk;
          tile.head = head;
          tile.sight = of_tile;
        }
      }
    }
    if (found) {
      publish(true);
    } else if (leads) {
      own.is_alone = true;
      prim::mbarrier_arrive(slot_full);
    }
  }

  HSTU_PRIM void run() {
    PipelineState<kOwnSlots> slot;
#pragma unroll 1
    for (;; slot.advance()) {
      prim::mbarrier_wait(prim::smem_addr(&storage.slot_placed[slot.stage]), slot.parity);
      OwnTile<Config>& own = storage.own[slot.stage];
      const u32 slot_full = prim::smem_addr(&storage.slot_full[slot.stage]);
      const Kind kind = own.kind;
      if (kind == kEnd) {
        if (prim::lane_id() == 0) prim::mbarrier_arrive(slot_full);
        return;
      }
      if (kind == kQueries)
        describe<false>(own, slot_full);
      else
        describe<true>(own, slot_full);
      __syncwarp();  // all lanes have read the slot
      if (prim::lane_id() == 0) prim::mbarrier_arrive(prim::smem_addr(&storage.slot_empty[slot.stage]));
    }
  }
};

// Starts the copies: own rows once a tile, those of the other side through the rings.
template <class Config>
struct Loader {
  using T = Shape<Config>;
  const AttnBwdSm90Params& p;
  Storage<Config>& storage;
  const u32 base;  // of the tiles
  PipelineState<T::kStages> stage;

  // `rows` rows, panel by panel, in boxes of kBox.
  template <int kPanels>
  HSTU_PRIM static void load(u32 to, const TensorMap* map, u32 barrier, const tile::JaggedBox& box, int row, int rows,
                             int head) {
#pragma unroll 1
    for (int panel = 0; panel < kPanels; ++panel) {
#pragma unroll 1
      for (int at = 0; at < rows; at += T::kBox)
        box.load(to + (panel * rows + at) * 128, map, barrier, panel * 64, row + at, head);
    }
  }

  HSTU_PRIM void load_walk(bool queries, int kv_head, const tile::JaggedBox& box) {
    const Ring<Config> qk_ring(prim::smem_addr(storage.qk_ring)), v_ring(prim::smem_addr(storage.v_ring));
    const TensorMap *qk = queries ? &p.k : &p.q, *v = queries ? &p.v : &p.dout;
    bool more = true;
#pragma unroll 1
    for (; more; stage.advance()) {
      prim::mbarrier_wait(prim::smem_addr(&storage.described[stage.stage]), stage.parity);
      const WalkTile& tile = storage.walk[stage.stage];
      const int begin = tile.begin, head = queries ? kv_head : tile.head;
      more = !tile.is_last;
      load<T::kPanelsQk>(base + T::kWalkQkAt + stage.stage * T::kWalkQkBytes, qk,
                         qk_ring.acquire(stage, T::kWalkQkBytes), box, begin, T::kWalk, head);
      load<T::kPanelsV>(base + T::kWalkVAt + stage.stage * T::kWalkVBytes, v, v_ring.acquire(stage, T::kWalkVBytes),
                        box, begin, T::kWalk, head);
    }
  }

  HSTU_PRIM void run() {
    PipelineState<kOwnSlots> slot;
    PipelineState<T::kOwnTiles> at;
#pragma unroll 1
    for (;; slot.advance(), at.advance()) {
      prim::mbarrier_wait(prim::smem_addr(&storage.slot_full[slot.stage]), slot.parity);
      const OwnTile<Config>& tile = storage.own[slot.stage];
      const Kind kind = tile.kind;
      if (kind == kEnd) return;
      const bool queries = kind == kQueries, is_alone = tile.is_alone;
      const int head = tile.head, own = tile.own;
      const tile::JaggedBox box(tile.row, tile.count);
      prim::mbarrier_arrive(prim::smem_addr(&storage.slot_empty[slot.stage]));
      const u32 own_full = prim::smem_addr(&storage.own_full[at.stage]), to = base + at.stage * T::kOwnBytes;
      prim::mbarrier_wait(prim::smem_addr(&storage.own_empty[at.stage]), at.parity ^ 1);
      prim::mbarrier_arrive_expect_tx(own_full, T::kOwnBytes);
      load<T::kPanelsQk>(to, queries ? &p.q : &p.k, own_full, box, own, T::kOwn, head);
      load<T::kPanelsV>(to + T::kOwnVAt, queries ? &p.dout : &p.v, own_full, box, own, T::kOwn, head);
      if (!is_alone) load_walk(queries, queries ? variant::kv_head_of<Config>(head) : head, box);
    }
  }
};

}  // namespace hstu::attn_bwd90
