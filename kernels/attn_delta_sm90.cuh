// Forward HSTU attention of each sequence's newest rows against jagged keys and values, for sm_90a: TMA, warpgroup
// products, warps with roles. Roles, tiles and rings are those of attn_fwd_sm90.cuh (attn90/shape.cuh).
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
//
// Few rows meet many keys: what counts is how many bytes of K and V are on their way, for which one thread and a deep
// ring suffice; the products of 64 rows, whether there are as many or not, take half of the time that their keys need
// to come.
//
// Where there are fewer (tiles, heads) than SMs, clusters of kSplit blocks share the keys of a tile. There is no
// softmax: sums of O are added. Each warp's 16 rows are finished by one of the blocks, which reads the others' sums
// from their shared memory.
//
// Shared memory   Q | K ring | V ring, at the end the sums for others | O | barriers, tile descriptions
// Order           attn90/delta_tile.cuh
// Sources         arXiv:2402.17152 (maths); Flash-Decoding (keys split among workers)
#pragma once
#include "attn90/delta_tile.cuh"
#include "attn90/hstu_steps.cuh"
#include "attn90/load.cuh"
#include "attn90/schedule.cuh"
#include "attn90/store.cuh"
#include "params/attn_delta_sm90.h"
#include "prim/warpgroup.cuh"

namespace hstu {

template <class Config>
constexpr int attn_delta_sm90_smem_bytes = attn90::smem_bytes<Config>;

namespace attn_delta_sm90_detail {

using namespace attn90;

// Registers a thread: tiles are described by more than the queries' own keys, and consumers have some to spare.
template <class Config>
struct DeltaRegisters {
  using T = Shape<Config>;
  enum : int { kProducer = 56 };
  enum : int { kSpared = (T::kLaunchRegisters * (T::kConsumers + 1) - kProducer) / T::kConsumers / 8 * 8 };
  enum : int { kConsumer = kSpared < 232 ? kSpared : 232 };
};

template <class Config>
struct DeltaStorage : Storage<Config, DeltaTile<Config>> {
  // Every lane arrives for what it wrote, or read.
  u64 sums_ready[Config::kConsumers * 4];  // of a warp's rows: the other blocks' sums lie in their shared memory
  u64 sums_read;                           // this block's, by all who finish rows
};

// Sums of O of the blocks of a cluster.
template <class Config>
struct ClusterSums {
  using T = Shape<Config>;
  enum : int { kSplit = Config::kSplit, kWarps = Config::kConsumers * 4 };
  enum : int { kWarpBytes = T::kColsV / 2 * 128 };
  static_assert(kWarps % kSplit == 0, "blocks of a cluster finish as many rows each");
  static_assert(kSplit == 1 || kWarps * kWarpBytes <= T::kOOffset - T::kKOffset, "the rings are room for the sums");

  DeltaStorage<Config>& storage;
  u32 sums;  // the thread's, in the shared memory of each block
  u32 warp;
  u32 rank, finisher;  // this block's; that of the one that finishes the warp's rows

  HSTU_PRIM static void init(DeltaStorage<Config>& storage) {
    for (u64& ready : storage.sums_ready) prim::mbarrier_init(prim::smem_addr(&ready), 32 * (kSplit - 1));
    prim::mbarrier_init(prim::smem_addr(&storage.sums_read), 32 * (kWarps - kWarps / kSplit));
  }
  HSTU_PRIM ClusterSums(DeltaStorage<Config>& storage, u32 base)
      : storage(storage), warp(prim::warp_id()), rank(prim::cluster_rank()), finisher(warp % kSplit) {
    sums = base + T::kKOffset + warp * kWarpBytes + prim::lane_id() * 16;
  }

  HSTU_PRIM bool finishes() const { return rank == finisher; }
  // Once all of the block's blocks of keys are used up. The finisher's O is then the sum of all.
  HSTU_PRIM void add(float (&o)[T::kColsV / 2], u32 parity) const {
    prim::named_barrier_sync(4, kWarps * 32);  // all have read the rings
    const u32 ready = prim::smem_addr(&storage.sums_ready[warp]), read = prim::smem_addr(&storage.sums_read);
    if (!finishes()) {
#pragma unroll
      for (int i = 0; i < T::kColsV / 8; ++i)
        prim::st_shared(sums + i * 512, prim::Quad{{__float_as_uint(o[4 * i]), __float_as_uint(o[4 * i + 1]),
                                                    __float_as_uint(o[4 * i + 2]), __float_as_uint(o[4 * i + 3])}});
      prim::fence_async_shared();  // TMA writes there next
      prim::mbarrier_arrive_cluster(ready, finisher);
    } else {
      prim::mbarrier_wait_cluster(ready, parity);
#pragma unroll 1
      for (u32 other = 1; other < kSplit; ++other) {
        const u32 theirs = prim::cluster_addr(sums, (rank + other) % kSplit);
#pragma unroll
        for (int i = 0; i < T::kColsV / 8; ++i) {
          const prim::Quad part = prim::ld_cluster16(theirs + i * 512);
#pragma unroll
          for (int j = 0; j < 4; ++j) o[4 * i + j] += __uint_as_float(part.word[j]);
        }
      }
#pragma unroll
      for (u32 other = 1; other < kSplit; ++other) prim::mbarrier_arrive_cluster(read, (rank + other) % kSplit);
    }
  }
  // Before this block's shared memory is used again.
  HSTU_PRIM void wait_until_read(u32 parity) const {
    prim::mbarrier_wait_cluster(prim::smem_addr(&storage.sums_read), parity);
  }
};

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct Consumer : HstuSteps<Config, DeltaTile<Config>, AttnSplitParams> {
  using T = Shape<Config>;
  using Tile = DeltaTile<Config>;
  using Steps = HstuSteps<Config, Tile, AttnSplitParams>;
  using Steps::attend, Steps::find_scale, Steps::wg;

  // Rows before position 0 see nothing; full blocks do not ask.
  HSTU_PRIM void clear_absent(const Tile& tile, float (&o)[T::kColsV / 2]) const {
    const int row = tile.position() + wg.thread_row();
#pragma unroll
    for (int i = 0; i < T::kColsV / 2; ++i)
      if (row + i / 2 % 2 * 8 < 0) o[i] = 0.0f;
  }

  HSTU_PRIM void store(const AttnSplitParams& p, const Tile& tile, float (&o)[T::kColsV / 2]) const {
    float scale[2];
    if (tile.position() < 0) clear_absent(tile, o);
    find_scale(p, tile, scale);
    store_rows<typename Config::Element>(wg, o, scale, tile.rows().queries(), tile.first_row, tile.head);
  }

  HSTU_PRIM void run(const AttnSplitParams& p) {
    RingPlace<kTileSlots> tile_place;
    const ClusterSums<Config> sums(static_cast<DeltaStorage<Config>&>(wg.storage), wg.base);
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
      Silu<AttnSplitParams> weights{p};
      attend(p, tile, weights, o, q);
      if constexpr (Config::kSplit > 1) {
        sums.add(o, parity);
        if (sums.finishes()) store(p, tile, o);
        sums.wait_until_read(parity);
      } else {
        store(p, tile, o);
      }
      wg.release(&wg.storage.tile_empty[tile_place.stage]);
    }
    finish_stores(wg);
  }
};

}  // namespace attn_delta_sm90_detail

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, Config::kBlocks)
    attn_delta_sm90(const __grid_constant__ AttnDeltaSm90Params p) {
  using T = attn90::Shape<Config>;
  using Tile = attn90::DeltaTile<Config>;
  using Place = attn90::DeltaPlace<Config>;
  using Storage = attn_delta_sm90_detail::DeltaStorage<Config>;
  using Registers = attn_delta_sm90_detail::DeltaRegisters<Config>;
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(Storage) <= attn_delta_sm90_smem_bytes<Config>, "attn90::kExtraBytes");
  auto& storage = *reinterpret_cast<Storage*>(shared);
  const u32 base = prim::smem_addr(storage.tiles);
  if (threadIdx.x == 0) {
    if constexpr (Config::kSplit > 1) attn_delta_sm90_detail::ClusterSums<Config>::init(storage);
    attn90::init<Config, Tile>(storage);
    prim::tma_prefetch_map(&p.q);
    prim::tma_prefetch_map(&p.k);
    prim::tma_prefetch_map(&p.v);
    prim::tma_prefetch_map(&p.out);
  }
  if constexpr (Config::kSplit > 1)
    prim::cluster_sync();
  else
    __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::lower_registers<Registers::kProducer>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (role == 0) attn90::load<Config, Tile>(p, storage, base);
    if (role / 32 == 1) {
      if constexpr (Config::kSplit > 1)
        attn90::describe_place<Place, Config, Tile>(p.attn, storage);
      else
        attn90::schedule<Place, Config, Tile>(p.attn, p.tile_counters, storage);
    }
  } else {
    prim::raise_registers<Registers::kConsumer>();
    attn_delta_sm90_detail::Consumer<Config>{{{storage, &p.out, base, group, {}}}}.run(p.attn);
  }
  if constexpr (Config::kSplit > 1) {
    __syncwarp();
    prim::cluster_sync();  // no block ends while another may read its sums
  }
}

}  // namespace hstu
