// Device side of prim_sm90_test.cpp: small kernels for the primitives of sm_90, reading tensors through maps or `in`
// and writing `out` or through a map, so that the host can say what every word must be.
#pragma once
#include "prim/cluster.cuh"
#include "prim/lanes.cuh"
#include "prim/mbarrier.cuh"
#include "prim/named_barrier.cuh"
#include "prim/proxy.cuh"
#include "prim/stmatrix.cuh"
#include "prim/tma.cuh"
#include "prim/types.cuh"
#include "prim/warpgroup.cuh"
#include "prim/wgmma.cuh"

namespace hstu::check {

struct MapParams {
  TensorMap a, b;
  const void* in;
  void* out;
};

// One thread loads `bytes` behind a fresh barrier; everyone waits.
template <class Load>
HSTU_PRIM void land(u32 barrier, u32 bytes, const Load& load) {
  if (threadIdx.x == 0) {
    prim::mbarrier_init(barrier, 1);
    prim::mbarrier_fence_init();
    prim::mbarrier_arrive_expect_tx(barrier, bytes);
    load();
  }
  __syncthreads();
  prim::mbarrier_wait(barrier, 0);
}

// A warpgroup: out [64][N] = a b over 128 bytes of k. a, b: maps of [64] and [N] lines along k, or with kMajor 1 of k
// lines in panels of 64. kFromRegisters: a's words from `in`, [4 steps][4 words][128 threads].
template <class A, class B, int N, int kMajorA, int kMajorB, bool kFromRegisters>
__global__ void __launch_bounds__(128, 1) wgmma(const __grid_constant__ MapParams p) {
  extern __shared__ __align__(1024) unsigned char storage[];
  __shared__ u64 barrier;
  const u32 a = prim::smem_addr(storage), b = a + 64 * 128, t = threadIdx.x;
  constexpr int kPanels = kMajorB ? (N + 63) / 64 : 1;
  constexpr u32 kBytesB = kMajorB ? kPanels * 64 * 128 : N * 128;
  land(prim::smem_addr(&barrier), 64 * 128 + kBytesB, [&] {
    prim::tma_prefetch_map(&p.a);
    prim::tma_load_2d(a, &p.a, prim::smem_addr(&barrier), 0, 0);
    for (i32 panel = 0; panel < kPanels; ++panel)
      prim::tma_load_2d_hint(b + panel * 8192, &p.b, prim::smem_addr(&barrier), 64 * panel, 0, prim::l2_evict_last());
  });
  const u64 da = prim::smem_descriptor(a, 8192, 1024, prim::kSwizzle128);
  const u64 db = prim::smem_descriptor(b, 8192, 1024, prim::kSwizzle128);
  float d[N / 2];
  u32 words[16];
  for (int i = 0; i < 16; ++i) words[i] = kFromRegisters ? static_cast<const u32*>(p.in)[i * 128 + t] : 0;
  prim::wgmma_keep(d);
  prim::wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const u64 bs = prim::advance_descriptor(db, step * (kMajorB ? 2048 : 32));
    if constexpr (kFromRegisters)
      prim::Wgmma<N>::template rs<A, B, kMajorB>(d, words[4 * step], words[4 * step + 1], words[4 * step + 2],
                                                 words[4 * step + 3], bs, step > 0);
    else
      prim::Wgmma<N>::template ss<A, B, kMajorA, kMajorB>(d, prim::advance_descriptor(da, step * (kMajorA ? 2048 : 32)),
                                                          bs, step > 0);
  }
  prim::wgmma_commit();
  prim::wgmma_wait<0>();
  prim::wgmma_keep(d);
  const u32 row = t / 32 * 16 + t % 32 / 4;
#pragma unroll
  for (int i = 0; i < N / 2; ++i)
    static_cast<float*>(p.out)[(row + 8 * ((i >> 1) & 1)) * N + 8 * (i >> 2) + 2 * (t % 4) + (i & 1)] = d[i];
}

// One warp. in: four words a lane; out: 16x16 of 16-bit words by x4, by x4 transposed, then 16x8 by x2.
__global__ void stmatrix(const MapParams p) {
  __shared__ __align__(16) u16 smem[3][16 * 16];
  const u32 lane = prim::lane_id();
  const u32* word = static_cast<const u32*>(p.in) + 4 * lane;
  const auto line = [&](int way, u32 column) { return prim::smem_addr(&smem[way][lane % 16 * 16 + column]); };
  for (u32 i = lane; i < 3 * 256; i += 32) smem[0][i] = 0xffff;
  __syncwarp();
  prim::stmatrix_x4(line(0, lane / 16 * 8), word[0], word[1], word[2], word[3]);
  prim::stmatrix_x4_trans(line(1, lane / 16 * 8), word[0], word[1], word[2], word[3]);
  prim::stmatrix_x2(line(2, 0), word[0], word[1]);
  __syncwarp();
  for (u32 i = lane; i < 3 * 256; i += 32) static_cast<u16*>(p.out)[i] = smem[0][i];
}

// Boxes of 16 x 8 x 2 floats of a, from in[0..2], to b at in[3..5]; then the same added once, and adds 1 to out by
// bulk.
__global__ void boxes(const __grid_constant__ MapParams p) {
  __shared__ __align__(1024) float smem[256];
  __shared__ __align__(16) float ones[4];
  __shared__ u64 barrier;
  const i32* at = static_cast<const i32*>(p.in);
  land(prim::smem_addr(&barrier), 1024, [&] {
    prim::tma_prefetch_3d(&p.a, at[0], at[1], at[2]);
    prim::tma_load_3d(prim::smem_addr(smem), &p.a, prim::smem_addr(&barrier), at[0], at[1], at[2]);
  });
  if (threadIdx.x < 4) ones[threadIdx.x] = 1;
  prim::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    prim::tma_store_3d(&p.b, prim::smem_addr(smem), at[3], at[4], at[5]);
    prim::bulk_commit();
    prim::bulk_wait<0>();
    prim::tma_add_3d(&p.b, prim::smem_addr(smem), at[3], at[4], at[5]);
    prim::bulk_add_f32(p.out, prim::smem_addr(ones), 16);
    prim::bulk_commit();
    prim::bulk_wait_read<0>();
    prim::bulk_wait<0>();
  }
}

// Clusters of two blocks: each fetches a half of a (64 columns x 16 lines of 16 bits, 8 lines each) for both, tells the
// other that it landed, and adds what the other left for it. out: per block 1024 words of the box's 16-bit elements,
// then the other's rank plus 100 (by a remote store), plus 200 (by an asynchronous one), read from it; 4 floats of the
// other's, 0 to 3 plus 10 times its rank (by one asynchronous store); the 4 that the other got, read from it.
__global__ void pair(const __grid_constant__ MapParams p) {
  __shared__ __align__(1024) u16 smem[64 * 16];
  __shared__ u64 full, told, sent;
  __shared__ u32 left;
  __shared__ float later;
  __shared__ __align__(16) float four[4];
  const u32 rank = prim::cluster_rank(), other = rank ^ 1, barrier = prim::smem_addr(&full);
  if (threadIdx.x == 0) {
    prim::mbarrier_init(barrier, 1);
    prim::mbarrier_init(prim::smem_addr(&told), 2);
    prim::mbarrier_init(prim::smem_addr(&sent), 1);
    prim::mbarrier_fence_init();
    prim::mbarrier_arrive_expect_tx(barrier, sizeof smem);
    prim::mbarrier_arrive_expect_tx(prim::smem_addr(&sent), 4 + 16);
  }
  prim::cluster_sync();
  if (threadIdx.x == 0) {
    prim::tma_load_2d_multicast(prim::smem_addr(smem) + rank * 1024, &p.a, barrier, 0, static_cast<i32>(rank) * 8, 3);
    prim::st_cluster(prim::cluster_addr(prim::smem_addr(&left), other), rank + 100);
    prim::st_async_f32(prim::cluster_addr(prim::smem_addr(&later), other), static_cast<float>(rank + 200),
                       prim::cluster_addr(prim::smem_addr(&sent), other));
    const float tens = 10.0f * static_cast<float>(rank);
    prim::st_async_f32x4(prim::cluster_addr(prim::smem_addr(four), other), tens, tens + 1, tens + 2, tens + 3,
                         prim::cluster_addr(prim::smem_addr(&sent), other));
  }
  prim::mbarrier_wait(barrier, 0);
  __syncthreads();
  if (threadIdx.x < 2) prim::mbarrier_arrive_cluster(prim::smem_addr(&told), threadIdx.x);
  prim::mbarrier_wait_cluster(prim::smem_addr(&told), 0);
  prim::mbarrier_wait_cluster(prim::smem_addr(&sent), 0);
  u32* out = static_cast<u32*>(p.out) + rank * (1024 + 12);
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) out[i] = smem[i];
  prim::cluster_sync();
  if (threadIdx.x == 0) {
    out[1024] = left;
    out[1025] = static_cast<u32>(later);
    out[1026] = prim::ld_cluster(prim::cluster_addr(prim::smem_addr(&left), other));
    for (u32 i = 0; i < 4; ++i) out[1028 + i] = static_cast<u32>(four[i]);
    const prim::Quad theirs = prim::ld_cluster16(prim::cluster_addr(prim::smem_addr(four), other));
    for (u32 i = 0; i < 4; ++i) out[1032 + i] = static_cast<u32>(__uint_as_float(theirs.word[i]));
    out[1027] = prim::cluster_size() * 1000 + prim::cluster_id() * 10 + prim::cluster_count();
  }
  prim::cluster_sync();
}

// Two warpgroups hand rounds over by arriving at each other's barriers, with registers moved between them. out: elected
// lanes, wrong hand-overs.
__global__ void __launch_bounds__(256, 1) roles(const MapParams p) {
  __shared__ volatile u32 box;
  u32* out = static_cast<u32*>(p.out);
  prim::grid_dependency_wait();
  if (prim::elect_one()) atomicAdd(out, 1);
  if (threadIdx.x < 128) {
    prim::lower_registers<40>();
    for (u32 i = 0; i < 500; ++i) {
      prim::named_barrier_sync<1, 256>();
      if (box != i) atomicAdd(out + 1, 1);
      prim::named_barrier_arrive<2, 256>();
    }
  } else {
    prim::raise_registers<232>();
    for (u32 i = 0; i < 500; ++i) {
      if (threadIdx.x == 128) box = i;
      prim::named_barrier_arrive(1, 256);
      prim::named_barrier_sync(2, 256);
    }
  }
  prim::grid_launch_dependents();
}

// Two kernels, launched one behind another with the attribute of dependent launches: `first` lets `second` start, works
// for a while and writes in[0..1023]; `second` looks at the clock, waits, and says how many of these it found wrong.
// out: when first ended, when second began, what was wrong. p.in is memory, of which first writes every word.
HSTU_PRIM u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}
__global__ void __launch_bounds__(128, 1) first(const __grid_constant__ MapParams p) {
  prim::grid_launch_dependents();
  prim::grid_dependency_wait();
  const u64 start = nanoseconds();
  while (nanoseconds() - start < 50000) {}
  u32* words = static_cast<u32*>(const_cast<void*>(p.in));
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = i + 1;
  __syncthreads();
  if (threadIdx.x == 0) static_cast<u64*>(p.out)[0] = nanoseconds();
}
__global__ void __launch_bounds__(128, 1) second(const __grid_constant__ MapParams p) {
  const u64 start = nanoseconds();
  prim::grid_launch_dependents();
  prim::grid_dependency_wait();
  const volatile u32* words = static_cast<const u32*>(p.in);
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x)
    if (words[i] != i + 1) atomicAdd(static_cast<u32*>(p.out) + 4, 1);
  if (threadIdx.x == 0) static_cast<u64*>(p.out)[1] = start;
}

}  // namespace hstu::check
