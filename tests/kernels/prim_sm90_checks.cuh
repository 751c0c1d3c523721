// Device side of prim_sm90_test.cpp: small kernels for the primitives of sm_90, reading tensors through maps or `in`
// and writing `out` or through a map, so that the host can say what every word must be.
#pragma once
#include "prim/bulk.cuh"
#include "prim/cluster.cuh"
#include "prim/fp8.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
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
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    prim::mbarrier_arrive_expect_tx(barrier, bytes);
    load();
  }
  prim::mbarrier_wait(barrier, 0);
}

// A warpgroup: out [64][N] = a b over kLine bytes of k, 128 or 64. a, b: maps of [64] and [N] lines along k, or with
// kMajor 1 of k lines in panels of 64. kFromRegisters: a's words from `in`, [4 steps][4 words][128 threads].
template <class A, class B, int N, int kMajorA, int kMajorB, bool kFromRegisters, int kLine>
__global__ void __launch_bounds__(128, 1) wgmma(const __grid_constant__ MapParams p) {
  extern __shared__ __align__(1024) unsigned char storage[];
  __shared__ u64 barrier;
  static_assert(kLine == 128 || (kMajorA == 0 && kMajorB == 0), "shorter lines lie along k");
  const u32 a = prim::smem_addr(storage), b = a + 64 * kLine, t = threadIdx.x;
  constexpr int kPanels = kMajorB ? (N + 63) / 64 : 1;
  constexpr u32 kBytesB = kMajorB ? kPanels * 64 * 128 : N * kLine;
  constexpr prim::Swizzle kSwizzle = kLine == 128 ? prim::kSwizzle128 : prim::kSwizzle64;
  land(prim::smem_addr(&barrier), 64 * kLine + kBytesB, [&] {
    prim::tma_prefetch_map(&p.a);
    prim::tma_load_2d(a, &p.a, prim::smem_addr(&barrier), 0, 0);
    for (i32 panel = 0; panel < kPanels; ++panel)
      prim::tma_load_2d(b + panel * 8192, &p.b, prim::smem_addr(&barrier), 64 * panel, 0);
  });
  const u64 da = prim::smem_descriptor(a, 8192, 8 * kLine, kSwizzle);
  const u64 db = prim::smem_descriptor(b, 8192, 8 * kLine, kSwizzle);
  float d[N / 2];
  u32 words[16];
  for (int i = 0; i < 16; ++i) words[i] = kFromRegisters ? static_cast<const u32*>(p.in)[i * 128 + t] : 0;
  prim::warpgroup_fence_operand(d);
  prim::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kLine / 32; ++step) {
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
  prim::warpgroup_fence_operand(d);
  const u32 row = t / 32 * 16 + t % 32 / 4;
#pragma unroll
  for (int i = 0; i < N / 2; ++i)
    static_cast<float*>(p.out)[(row + 8 * ((i >> 1) & 1)) * N + 8 * (i >> 2) + 2 * (t % 4) + (i & 1)] = d[i];
}

// One warp. in: four words a lane; out: 16x16 of 16-bit words.
__global__ void stmatrix(const MapParams p) {
  __shared__ __align__(16) u16 smem[16 * 16];
  const u32 lane = prim::lane_id();
  const u32* word = static_cast<const u32*>(p.in) + 4 * lane;
  prim::stmatrix_x4(prim::smem_addr(&smem[lane % 16 * 16 + lane / 16 * 8]), word[0], word[1], word[2], word[3]);
  __syncwarp();
  for (u32 i = lane; i < 256; i += 32) static_cast<u16*>(p.out)[i] = smem[i];
}

// in: 1024 words; out: they, from the 16 bytes on at which they are brought to shared memory.
__global__ void bulk(const MapParams p) {
  __shared__ __align__(16) u32 smem[1024 + 8];
  __shared__ u64 barrier;
  land(prim::smem_addr(&barrier), 4096,
       [&] { prim::bulk_load(prim::smem_addr(smem + 4), p.in, 4096, prim::smem_addr(&barrier)); });
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) static_cast<u32*>(p.out)[i] = smem[4 + i];
}

// in: words a, b; out: the greater magnitudes of their halves as bf16 and as f16, their products as bf16.
__global__ void pairs(const MapParams p) {
  const u32* in = static_cast<const u32*>(p.in) + 2 * threadIdx.x;
  u32* out = static_cast<u32*>(p.out) + 3 * threadIdx.x;
  out[0] = prim::max_magnitude2<bf16>(in[0], in[1]);
  out[1] = prim::max_magnitude2<f16>(in[0], in[1]);
  out[2] = prim::mul2_bf16(in[0], in[1]);
}

// in: four floats; out: they as e4m3.
__global__ void four(const MapParams p) {
  const float* x = static_cast<const float*>(p.in) + 4 * threadIdx.x;
  static_cast<u32*>(p.out)[threadIdx.x] = prim::pack4_fp8<e4m3>(x[0], x[1], x[2], x[3]);
}

// A box of a's floats, at in[0..4], in[10] bytes of them, to b at in[5..9]; a has kFrom dimensions and b has kTo.
template <int kFrom, int kTo>
__global__ void boxes(const __grid_constant__ MapParams p) {
  __shared__ __align__(1024) float smem[1024];
  __shared__ u64 barrier;
  const i32 *at = static_cast<const i32*>(p.in), *to = at + 5;
  const u32 box = prim::smem_addr(smem), landed = prim::smem_addr(&barrier);
  land(landed, static_cast<u32>(at[10]), [&] {
    if constexpr (kFrom == 2) {
      prim::tma_prefetch_2d(&p.a, at[0], at[1]);
      prim::tma_load_2d(box, &p.a, landed, at[0], at[1]);
    }
    if constexpr (kFrom == 3) prim::tma_load_3d(box, &p.a, landed, at[0], at[1], at[2]);
    if constexpr (kFrom == 4) prim::tma_load_4d(box, &p.a, landed, at[0], at[1], at[2], at[3]);
    if constexpr (kFrom == 5) prim::tma_load_5d(box, &p.a, landed, at[0], at[1], at[2], at[3], at[4]);
  });
  if (threadIdx.x == 0) {
    if constexpr (kTo == 2) prim::tma_store_2d(&p.b, box, to[0], to[1]);
    if constexpr (kTo == 4) prim::tma_store_4d(&p.b, box, to[0], to[1], to[2], to[3]);
    if constexpr (kTo == 5) prim::tma_store_5d(&p.b, box, to[0], to[1], to[2], to[3], to[4]);
    prim::bulk_commit();
    prim::bulk_wait_read<0>();
  }
}

// Clusters of two blocks: each fetches a half of a (64 columns x 16 lines of 16 bits, 8 lines each) for both, tells the
// other that it landed, and reads what the other left for it. out: per block 1024 words of the box's 16-bit elements,
// then 4 floats of the other's, 0 to 3 plus 10 times its rank; the 4 that the other got, read from it.
__global__ void pair(const __grid_constant__ MapParams p) {
  __shared__ __align__(1024) u16 smem[64 * 16];
  __shared__ u64 full, told, sent;
  __shared__ __align__(16) float four[4];
  const u32 rank = prim::cluster_rank(), other = rank ^ 1, barrier = prim::smem_addr(&full);
  if (threadIdx.x == 0) {
    prim::mbarrier_init(barrier, 1);
    prim::mbarrier_init(prim::smem_addr(&told), 2);
    prim::mbarrier_init(prim::smem_addr(&sent), 1);
    prim::mbarrier_fence_init();
    prim::mbarrier_arrive_expect_tx(barrier, sizeof smem);
    prim::mbarrier_arrive_expect_tx(prim::smem_addr(&sent), 16);
  }
  prim::cluster_sync();
  if (threadIdx.x == 0) {
    prim::tma_load_2d_multicast(prim::smem_addr(smem) + rank * 1024, &p.a, barrier, 0, static_cast<i32>(rank) * 8, 3);
    const float tens = 10.0f * static_cast<float>(rank);
    prim::st_async_f32x4(prim::cluster_addr(prim::smem_addr(four), other), tens, tens + 1, tens + 2, tens + 3,
                         prim::cluster_addr(prim::smem_addr(&sent), other));
  }
  prim::mbarrier_wait(barrier, 0);
  __syncthreads();
  if (threadIdx.x < 2) prim::mbarrier_arrive_cluster(prim::smem_addr(&told), threadIdx.x);
  prim::mbarrier_wait_cluster(prim::smem_addr(&told), 0);
  prim::mbarrier_wait_cluster(prim::smem_addr(&sent), 0);
  u32* out = static_cast<u32*>(p.out) + rank * (1024 + 8);
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) out[i] = smem[i];
  prim::cluster_sync();
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < 4; ++i) out[1024 + i] = static_cast<u32>(four[i]);
    const prim::Quad theirs = prim::ld_cluster16(prim::cluster_addr(prim::smem_addr(four), other));
    for (u32 i = 0; i < 4; ++i) out[1028 + i] = static_cast<u32>(__uint_as_float(theirs.word[i]));
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
    prim::warpgroup_reg_dealloc<40>();
    for (u32 i = 0; i < 500; ++i) {
      prim::named_barrier_sync<1, 256>();
      if (box != i) atomicAdd(out + 1, 1);
      prim::named_barrier_arrive<2, 256>();
    }
  } else {
    prim::warpgroup_reg_alloc<232>();
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
