// What a block of threads of an sm_90 attention kernel does: its warpgroups take their roles
// (attention/sm90/shape.cuh).
#pragma once
#include "attention/sm90/load.cuh"
#include "attention/sm90/schedule.cuh"
#include "attention/sm90/warpgroup.cuh"
#include "prim/tma.cuh"
#include "prim/warpgroup.cuh"

namespace hstu::attn90 {

// Consumer<Config> is made of a Warpgroup and has run(p.attn).
template <class Config, class Tile, class Place, template <class> class Consumer, class Params>
HSTU_PRIM void run(const Params& p) {
  using T = Shape<Config>;
  using Storage = attn90::Storage<Config, Tile>;
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(Storage) <= smem_bytes<Config>, "attn90::kExtraBytes");
  auto& storage = *reinterpret_cast<Storage*>(shared);
  const u32 base = prim::smem_addr(storage.tiles);
  if (threadIdx.x == 0) {
    init(storage);
    prim::tma_prefetch_map(&p.q);
    prim::tma_prefetch_map(&p.k);
    prim::tma_prefetch_map(&p.v);
    prim::tma_prefetch_map(&p.out);
    if constexpr (Config::kBias) prim::tma_prefetch_map(&p.rab);
  }
  __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::warpgroup_reg_dealloc<T::kProducerRegisters>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (role == 0) load(p, storage, base);
    if (role / 32 == 1) schedule<Place>(p.attn, p.tile_counters, storage);
  } else {
    prim::warpgroup_reg_alloc<T::kConsumerRegisters>();
    Consumer<Config>{{storage, &p.out, base, group, {}}}.run(p.attn);
  }
}

}  // namespace hstu::attn90
