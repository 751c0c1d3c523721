// Sums of O of blocks of threads, a cluster, that share the keys of a tile (Config::kSplit of them): there is no
// softmax, so they are added. Each block leaves its sums where its keys were; a warp's 16 rows are finished by one of
// the blocks, which reads them there.
#pragma once
#include "attention/sm90/storage.cuh"
#include "prim/cluster.cuh"
#include "prim/memory.cuh"
#include "prim/named_barrier.cuh"
#include "prim/proxy.cuh"

namespace hstu::attn90 {

// With barriers for which every lane arrives: for what it wrote, or read.
template <class Config, class Tile>
struct SplitStorage : Storage<Config, Tile> {
  u64 sums_ready[Config::kConsumers * 4];  // of a warp's rows: the other blocks' sums lie in their shared memory
  u64 sums_read;                           // this block's, by all who finish rows
};

template <class Config, class Tile>
struct ClusterSums {
  using T = Shape<Config>;
  enum : int { kSplit = Config::kSplit, kWarps = Config::kConsumers * 4 };
  enum : int {
    kQuads = T::kColsV / 8,
    kWarpBytes = kQuads * 512
  };  // a lane's four sums of a row and the eighth behind
  static_assert(kWarps % kSplit == 0, "blocks of a cluster finish as many rows each");
  static_assert(kSplit == 1 || kWarps * kWarpBytes <= T::kOOffset - T::kKOffset, "the rings are room for the sums");

  SplitStorage<Config, Tile>& storage;
  u32 sums;  // the thread's, in the shared memory of each block
  u32 warp;
  u32 rank, finisher;  // this block's; that of the one that finishes the warp's rows

  HSTU_PRIM static void init(SplitStorage<Config, Tile>& storage) {
    for (u64& ready : storage.sums_ready) prim::mbarrier_init(prim::smem_addr(&ready), 32 * (kSplit - 1));
    prim::mbarrier_init(prim::smem_addr(&storage.sums_read), 32 * (kWarps - kWarps / kSplit));
  }
  HSTU_PRIM ClusterSums(SplitStorage<Config, Tile>& storage, u32 base)
      : storage(storage), warp(prim::warp_id()), rank(prim::cluster_rank()), finisher(warp % kSplit) {
    sums = base + T::kKOffset + warp * kWarpBytes + prim::lane_id() * 16;
  }

  HSTU_PRIM bool finishes() const { return rank == finisher; }
  // Once all of the block's keys are used up. Then the finisher may read.
  HSTU_PRIM void share(const float (&o)[T::kColsV / 2], u32 parity) const {
    prim::named_barrier_sync(4, kWarps * 32);  // all have read the rings
#pragma unroll
    for (int i = 0; i < kQuads; ++i)
      prim::st_shared(sums + i * 512, prim::Quad{{__float_as_uint(o[4 * i]), __float_as_uint(o[4 * i + 1]),
                                                  __float_as_uint(o[4 * i + 2]), __float_as_uint(o[4 * i + 3])}});
    prim::fence_async_shared();  // TMA writes there next
    const u32 ready = prim::smem_addr(&storage.sums_ready[warp]);
    if (finishes())
      prim::mbarrier_wait_cluster(ready, parity);
    else
      prim::mbarrier_arrive_cluster(ready, finisher);
  }
  // The finisher: O of all blocks, of the thread's quads from `first` on.
  template <int kCount>
  HSTU_PRIM void add(float (&o)[kCount], int first) const {
#pragma unroll
    for (float& sum : o) sum = 0.0f;
#pragma unroll 1
    for (u32 block = 0; block < kSplit; ++block) {
      const u32 theirs = prim::cluster_addr(sums, (rank + block) % kSplit);
#pragma unroll
      for (int i = 0; i < kCount / 4; ++i) {
        if (first + i >= kQuads) continue;
        const prim::Quad part = prim::ld_cluster16(theirs + (first + i) * 512);
#pragma unroll
        for (int j = 0; j < 4; ++j) o[4 * i + j] += __uint_as_float(part.word[j]);
      }
    }
  }
  // All of them are read.
  HSTU_PRIM void release() const {
    const u32 read = prim::smem_addr(&storage.sums_read);
#pragma unroll
    for (u32 other = 1; other < kSplit; ++other) prim::mbarrier_arrive_cluster(read, (rank + other) % kSplit);
  }
  // Before this block's shared memory is used again.
  HSTU_PRIM void wait_until_read(u32 parity) const {
    prim::mbarrier_wait_cluster(prim::smem_addr(&storage.sums_read), parity);
  }
};

}  // namespace hstu::attn90
