// A block of threads of attention of each sequence's newest rows against cached keys: TMA, warpgroup products, warps
// with roles. Roles, tiles and rings are those of attn_fwd_sm90.cuh (attention/sm90/shape.cuh). The kernels
// attn_delta_sm90 and attn_paged_sm90 are this one.
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
//
// What runs, and the function or the file behind each line, in attention/sm90/ unless it is of this file:
//   scheduler  for each tile, from the counter, or of the cluster's place   schedule.cuh, delta_tile.cuh
//                describe it: which of its key blocks this block visits     delta_plan.cuh
//                and what each warpgroup sees of them                       seen_blocks.cuh; data: seen_runs.cuh
//   loader     for each tile copy Q; for each key block copy K, then V      load.cuh
//                from jagged rows, or from pages that a warp looks up       delta_keys.cuh
//   consumer   for each tile                                                DeltaConsumer::run()
//                Q to registers                                             warpgroup.cuh
//                for each block that its rows see                           hstu_mainloop.cuh, block_pipeline.cuh
//                  S = Q K^T, mask, P = silu(S), O += P V                   scores.cuh, values.cuh
//                of a cluster: share O; one block of it adds all of them    cluster_sums.cuh
//                scale; O to memory by TMA                                  store() or store_sums(), store.cuh
//
// Few rows see many keys: what counts is how many bytes of K and V are in flight, for which one thread and a deep
// ring suffice; the products of 64 rows, whether there are as many or not, take half of the time that their keys need
// to come. Where there are fewer (tiles, heads) than SMs, clusters of blocks share the keys of a tile
// (attention/sm90/cluster_sums.cuh).
//
// Shared memory   Q | K ring | V ring, at the end the sums for others | O | barriers, tile descriptions
// Order           attention/sm90/delta_tile.cuh; where keys lie: attention/sm90/delta_keys.cuh
// Sources         arXiv:2402.17152 (maths); Flash-Decoding (keys split among workers)
// Tried           docs/experiments/attention_cached.md
//
// Problem facts in Config: attention/sm90/shape.cuh's; QOffset, kJaggedQ, kHeadsPerKv; kPageSize (0: jagged keys), and
// when paged Page and kPieceRows, a power of two that divides kPageSize and kBlockN. Knob: kSplit.
#pragma once
#include "attention/sm90/cluster_sums.cuh"
#include "attention/sm90/delta_tile.cuh"
#include "attention/sm90/hstu_mainloop.cuh"
#include "attention/sm90/load.cuh"
#include "attention/sm90/schedule.cuh"
#include "attention/sm90/store.cuh"
#include "prim/warpgroup.cuh"

namespace hstu::attn90 {

// Registers a thread: tiles are described by more than the queries' own keys, and consumers have some to spare.
template <class Config>
struct DeltaRegisters {
  using T = Shape<Config>;
  enum : int { kProducer = 56 };
  enum : int { kSpared = (T::kLaunchRegisters * (T::kConsumers + 1) - kProducer) / T::kConsumers / 8 * 8 };
  enum : int { kConsumer = kSpared < 232 ? kSpared : 232 };
};

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct DeltaConsumer : HstuMainloop<Config, DeltaTile<Config>, AttnSplitParams> {
  using T = Shape<Config>;
  using Tile = DeltaTile<Config>;
  using Element = typename Config::Element;
  using Mainloop = HstuMainloop<Config, Tile, AttnSplitParams>;
  using Mainloop::attend, Mainloop::find_scale, Mainloop::wg;

  // Rows before position 0 see nothing; full blocks do not ask.
  template <int kCount>
  HSTU_PRIM void clear_absent(const Tile& tile, float (&o)[kCount]) const {
    const int row = tile.position() + wg.thread_row();
    if (tile.position() >= 0) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      if (row + i / 2 % 2 * 8 < 0) o[i] = 0.0f;
  }

  HSTU_PRIM void store(const AttnSplitParams& p, const Tile& tile, float (&o)[T::kColsV / 2]) const {
    float scale[2];
    clear_absent(tile, o);
    find_scale(p, tile, scale);
    store_rows<Element>(wg, o, scale, tile.rows().queries(), tile.first_row, tile.head);
  }
  // The same of what a cluster's blocks have in common. Panel by panel in a loop: unrolled, all of others' sums would
  // be asked for at once, and registers spill.
  HSTU_PRIM void store_sums(const AttnSplitParams& p, const Tile& tile, const ClusterSums<Config, Tile>& sums) const {
    float scale[2], o[32 * T::kOBoxes];
    find_scale(p, tile, scale);
#pragma unroll 1
    for (int panel = 0; panel < T::kOPanels; panel += T::kOBoxes) {
      sums.add(o, panel * 8);
      clear_absent(tile, o);
      store_panels<Element>(wg, o, panel, scale, tile.rows().queries(), tile.first_row, tile.head);
    }
    sums.release();
  }

  HSTU_PRIM void run(const AttnSplitParams& p) {
    PipelineState<kTileSlots> tile_place;
    const ClusterSums<Config, Tile> sums(static_cast<SplitStorage<Config, Tile>&>(wg.storage), wg.base);
    u32 parity = 0;
#pragma unroll 1
    for (;; tile_place.advance(), parity ^= 1) {
      const auto& tile = wg.storage.tile[tile_place.stage];
      wg.wait(&wg.storage.tile_full[tile_place.stage], tile_place.parity);
      if (tile.first_row < 0) break;
      wg.wait(&wg.storage.q_full, parity);
      u32 q[T::kQWords][4];
      float o[T::kColsV / 2];
      wg.load_q(q);
      clear(o);
      Silu<AttnSplitParams, Config::kBias> weights{p};
      attend(p, tile, weights, o, q);
      if constexpr (Config::kSplit > 1) {
        sums.share(o, parity);
        if (sums.finishes()) store_sums(p, tile, sums);
        sums.wait_until_read(parity);
      } else {
        store(p, tile, o);
      }
      wg.release_tile(tile_place.stage);
    }
    finish_stores(wg);
  }
};

HSTU_PRIM void prefetch(const TensorMap& keys) { prim::tma_prefetch_map(&keys); }
HSTU_PRIM void prefetch(const PagedMaps& keys) { prim::tma_prefetch_map(&keys.pages); }

// Params: q, k, v, out, attn, tile_counters. k and v: what rows().keys() loads from.
template <class Config, class Params>
HSTU_PRIM void delta_block(const Params& p) {
  using T = Shape<Config>;
  using Tile = DeltaTile<Config>;
  using Registers = DeltaRegisters<Config>;
  enum : bool { kPaged = Config::kPageSize > 0 };  // pages are looked up by a warp together
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(SplitStorage<Config, Tile>) <= smem_bytes<Config>, "attn90::kExtraBytes");
  auto& storage = *reinterpret_cast<SplitStorage<Config, Tile>*>(shared);
  const u32 base = prim::smem_addr(storage.tiles);
  if (threadIdx.x == 0) {
    if constexpr (Config::kSplit > 1) ClusterSums<Config, Tile>::init(storage);
    init<Config, Tile>(storage);
    prim::tma_prefetch_map(&p.q);
    prefetch(p.k);
    prefetch(p.v);
    prim::tma_prefetch_map(&p.out);
    if constexpr (Config::kBias) prim::tma_prefetch_map(&p.rab);
  }
  if constexpr (Config::kSplit > 1)
    prim::cluster_sync();
  else
    __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::warpgroup_reg_dealloc<Registers::kProducer>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (kPaged ? role / 32 == 0 : role == 0) load<Config, Tile, kPaged>(p, storage, base);
    if (role / 32 == 1) {
      using Place = typename DeltaPlaceOf<Config, (Config::kIntervals > 0)>::Type;
      if constexpr (Config::kSplit > 1)
        describe_place<Place, Config, Tile>(p.attn, storage);
      else
        schedule<Place, Config, Tile>(p.attn, p.tile_counters, storage);
    }
  } else {
    prim::warpgroup_reg_alloc<Registers::kConsumer>();
    DeltaConsumer<Config>{{{storage, &p.out, base, group, {}}}}.run(p.attn);
  }
  if constexpr (Config::kSplit > 1) {
    __syncwarp();
    prim::cluster_sync();  // no block ends while another may read its sums
  }
}

}  // namespace hstu::attn90
