// Device side of prim_test.cpp: one small kernel per primitive of kernels/prim, each one block, reading `in` and
// writing `out` so that the host can say what every word must be.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/mbarrier.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "prim/named_barrier.cuh"
#include "prim/types.cuh"

namespace hstu::check {

struct Params {
  const void* in;
  void* out;
};

// in: floats; out: a packed pair of (x[i], x[i + 1]) a thread, then its two halves unpacked.
template <class Element>
__global__ void pack(const Params p) {
  const float* x = static_cast<const float*>(p.in);
  u32* out = static_cast<u32*>(p.out);
  const u32 i = threadIdx.x, n = blockDim.x;
  const u32 pair = prim::pack2<Element>(x[2 * i], x[2 * i + 1]);
  out[i] = pair;
  out[n + 2 * i] = __float_as_uint(prim::unpack_lo<Element>(pair));
  out[n + 2 * i + 1] = __float_as_uint(prim::unpack_hi<Element>(pair));
  out[3 * n + i] = __float_as_uint(prim::to_float(prim::from_float<Element>(x[2 * i])));
}

// out: lane, thread, warp, zero, then sums over groups of 1 << g lanes of (thread + 1), for g = 1..5, and two at once;
// then the warp's sum of them as integers.
__global__ void lanes(const Params p) {
  u32* out = static_cast<u32*>(p.out) + threadIdx.x * 12;
  const float x = static_cast<float>(threadIdx.x + 1);
  float pair[2] = {x, 2.0f * x};
  prim::lane_sums<8>(pair);
  const float sums[] = {prim::lane_sum<2>(x),
                        prim::lane_sum<4>(x),
                        prim::lane_sum<8>(x),
                        prim::lane_sum<16>(x),
                        prim::lane_sum<32>(x),
                        pair[0],
                        pair[1]};
  out[0] = prim::lane_id();
  out[1] = prim::thread_id();
  out[2] = prim::warp_id();
  out[3] = prim::opaque_zero();
  for (int i = 0; i < 7; ++i) out[4 + i] = static_cast<u32>(sums[i]);
  out[11] = prim::lane_add(threadIdx.x + 1);
}

// in: a float a thread; out: the greatest of its group of 8 lanes, of its warp, and of its group of 4 twice, once
// negated.
__global__ void maxima(const Params p) {
  const float x = static_cast<const float*>(p.in)[threadIdx.x];
  float* out = static_cast<float*>(p.out) + threadIdx.x * 4;
  float pair[2] = {x, -x};
  prim::lane_maxima<4>(pair);
  out[0] = prim::lane_max<8>(x);
  out[1] = prim::lane_max(x);
  out[2] = pair[0];
  out[3] = pair[1];
}

// in: floats; out: tanh, ex2, rcp, rsqrt(|x|), lg2(|x|) of each.
__global__ void math(const Params p) {
  const float x = static_cast<const float*>(p.in)[threadIdx.x];
  float* out = static_cast<float*>(p.out) + threadIdx.x * 5;
  out[0] = prim::tanh_approx(x);
  out[1] = prim::ex2_approx(x);
  out[2] = prim::rcp_approx(x);
  out[3] = prim::rsqrt_approx(fabsf(x));
  out[4] = prim::lg2_approx(fabsf(x));
}

// Copies 16 bytes a thread by each way; way w writes at out + w * 16 * blockDim.x.
__global__ void memory(const Params p) {
  __shared__ __align__(16) u32 smem[256 * 4];
  const u32 i = threadIdx.x, n = blockDim.x;
  const char* in = static_cast<const char*>(p.in) + 16 * i;
  const auto out = [&](u32 way) { return static_cast<char*>(p.out) + 16 * (way * n + i); };
  prim::prefetch_l2(in);
  prim::bulk_prefetch_l2(in, 16);
  prim::st_global(out(0), prim::ld_global(in));
  prim::st_global(out(1), prim::ld_global_once(in));
  for (u32 b = 0; b < 16; b += 8) prim::st_global8(out(2) + b, prim::ld_global8(in + b));
  for (u32 b = 0; b < 16; b += 4) prim::st_global4(out(3) + b, prim::ld_global4(in + b));
  for (u32 b = 0; b < 16; b += 2) prim::st_global2(out(4) + b, prim::ld_global2(in + b));
  for (u32 b = 0; b < 16; ++b) prim::st_global1(out(5) + b, prim::ld_global1(in + b));
  const u32 slot = prim::smem_addr(smem + 4 * i);
  prim::st_shared(slot, prim::ld_global(in));
  prim::st_global(out(6), prim::ld_shared(slot));
  const prim::Quad q = prim::ld_global(in);
  for (u32 w = 0; w < 4; ++w) prim::st_shared(slot + 4 * w, q.word[3 - w]);
  prim::st_global(out(7), prim::ld_shared(slot));
  for (u32 w = 0; w < 4; ++w) prim::st_global4(out(8) + 4 * w, prim::ld_shared4(slot + 4 * w));
  for (u32 b = 0; b < 16; b += 2) prim::st_global2(out(9) + b, prim::ld_shared2(slot + b));
  for (u32 b = 0; b < 16; ++b) prim::st_shared1(slot + b, prim::ld_global1(in + b));
  for (u32 b = 0; b < 16; ++b) prim::st_global1(out(10) + b, prim::ld_shared1(slot + b));
}

// in: words; out: each of them, read through an opaque pointer, and opaque itself.
__global__ void opaque(const Params p) {
  const u32 i = threadIdx.x;
  const u32* word = prim::opaque(static_cast<const u32*>(p.in) + i);
  u32* out = prim::opaque(static_cast<u32*>(p.out) + 2 * i);
  out[0] = *word;
  out[1] = prim::opaque(*word);
}

// Every thread counts one word up by one: out is what each found before its turn, then the
// word's last value, then the launch's grid number, all of 8 bytes.
__global__ void exchange(const Params p) {
  u64* const out = static_cast<u64*>(p.out);
  u64* const word = out + blockDim.x;
  if (threadIdx.x == 0) *word = 0;
  __syncthreads();
  u64 found = 0;
  for (u64 before; (before = prim::compare_and_swap_acquire(word, found, found + 1)) != found;) found = before;
  out[threadIdx.x] = found;
  if (threadIdx.x == 0) word[1] = prim::grid_id();
}

// All threads count one word up; out: what each found, then the word.
__global__ void fetch_increment(const Params p) {
  u32* const out = static_cast<u32*>(p.out);
  u32* const word = out + blockDim.x;
  if (threadIdx.x == 0) *word = 0;
  __syncthreads();
  out[threadIdx.x] = prim::fetch_increment(word);
}

// Thread i copies all of its 16 bytes, or none of them, or i % 17 by the zero-filling forms. Shared memory starts
// poisoned; of threads whose number is a multiple of 3 it stays so in the third way.
__global__ void cp_async(const Params p) {
  __shared__ __align__(16) u32 smem[5][256 * 4];
  const u32 i = threadIdx.x, n = blockDim.x, bytes = i % 17;
  const char* in = static_cast<const char*>(p.in) + 16 * i;
  for (u32 way = 0; way < 5; ++way)
    for (u32 w = 0; w < 4; ++w) smem[way][4 * i + w] = 0xdeadbeefu;
  const auto slot = [&](u32 way) { return prim::smem_addr(&smem[way][4 * i]); };
  prim::cp_async16_or_zero(slot(0), in, true);
  prim::cp_async_commit();
  prim::cp_async16_or_zero(slot(1), in, i % 2 == 0);
  prim::cp_async16_or_zero_if(i % 3 != 0, slot(2), in, i % 2 == 0);
  for (u32 b = 0; b < 16; b += 8)
    prim::cp_async8_zfill(slot(3) + b, in + b, bytes <= b ? 0 : bytes >= b + 8 ? 8 : bytes - b);
  for (u32 b = 0; b < 16; b += 4)
    prim::cp_async4_zfill(slot(4) + b, in + b, bytes <= b ? 0 : bytes >= b + 4 ? 4 : bytes - b);
  prim::cp_async_commit();
  prim::cp_async_wait<1>();
  __syncthreads();
  const u32 first = smem[0][4 * i];  // the first group is here although the second may still fly
  prim::cp_async_wait<0>();
  __syncthreads();
  u32* out = static_cast<u32*>(p.out);
  for (u32 way = 0; way < 5; ++way)
    for (u32 w = 0; w < 4; ++w) out[4 * (way * n + i) + w] = smem[way][4 * i + w];
  out[4 * 5 * n + i] = first;
}

// Two groups of two warps, the second for more rounds: each round a thread passes its value to the one in the other
// warp of its group, plus 1. out: the values at the end.
__global__ void named_barrier(const Params p) {
  __shared__ u32 values[128];
  const u32 group = threadIdx.x / 64, partner = threadIdx.x ^ 32;
  u32 value = static_cast<const u32*>(p.in)[threadIdx.x];
  for (u32 round = 0; round < 100 + 50 * group; ++round) {
    values[threadIdx.x] = value;
    prim::named_barrier_sync(1 + group, 64);
    value = values[partner] + 1;
    prim::named_barrier_sync(1 + group, 64);
  }
  static_cast<u32*>(p.out)[threadIdx.x] = value;
}

// Two groups of two warps. in: a word a group and round; where it is the thread's number in its group, that one comes
// with true. out: a bit a round of what each was told; then how often it did not see what its partner in the other warp
// had written before.
__global__ void any(const Params p) {
  __shared__ u32 values[2][128];
  const u32 t = threadIdx.x, group = t / 64;
  u32 told = 0, missed = 0;
  for (u32 round = 0; round < 32; ++round) {
    values[round % 2][t] = round;
    const bool is = static_cast<const u32*>(p.in)[2 * round + group] == t % 64;
    const bool any = group == 0 ? prim::named_barrier_any<1, 64>(is) : prim::named_barrier_any<2, 64>(is);
    told |= static_cast<u32>(any) << round;
    missed += values[round % 2][t ^ 32] != round;
  }
  static_cast<u32*>(p.out)[2 * t] = told;
  static_cast<u32*>(p.out)[2 * t + 1] = missed;
}

// Four warps pass values to each other and add 1, an odd number of rounds: all lanes theirs behind a barrier at which
// all arrive, then first lanes alone behind one at the same place, its phases from the first again. Each lane arrives
// for what it read and wrote itself, which racecheck follows. out: the values after either.
__global__ void mbarrier(const Params p) {
  __shared__ u32 values[2][128];
  __shared__ u64 storage;
  constexpr u32 kRounds = 101;
  const u32 t = threadIdx.x, barrier = prim::smem_addr(&storage);
  u32 value = static_cast<const u32*>(p.in)[t];
  for (int of_warps = 0; of_warps < 2; ++of_warps) {
    if (t == 0) {
      if (of_warps) prim::mbarrier_inval(barrier);
      prim::mbarrier_init(barrier, of_warps ? 4 : 128);
    }
    __syncthreads();
    const bool passes = !of_warps || t % 32 == 0;
    for (u32 round = 0; round < kRounds; ++round) {
      if (passes) {
        values[round % 2][t] = value;
        prim::mbarrier_arrive(barrier);
      }
      prim::mbarrier_wait(barrier, round & 1);
      if (passes) value = values[round % 2][t ^ 96] + 1;
    }
    static_cast<u32*>(p.out)[of_warps * 128 + t] = value;
    __syncthreads();
  }
}

// Each thread copies 16 bytes; behind the barrier it reads those that a thread of another warp copied. Then all arrive
// once more, with nothing on its way.
__global__ void copies_arrive(const Params p) {
  __shared__ prim::Quad quads[256];
  __shared__ u64 storage;
  const u32 t = threadIdx.x, barrier = prim::smem_addr(&storage);
  if (t == 0) prim::mbarrier_init(barrier, blockDim.x);
  quads[t] = {};
  __syncthreads();
  prim::cp_async16_or_zero(prim::smem_addr(&quads[t]), static_cast<const prim::Quad*>(p.in) + t, true);
  prim::cp_async_mbarrier_arrive(barrier);
  prim::mbarrier_wait(barrier, 0);
  static_cast<prim::Quad*>(p.out)[t] = quads[t ^ 96];
  prim::cp_async_mbarrier_arrive(barrier);
  prim::mbarrier_wait(barrier, 1);
}

// One warp. in: a 16x16 matrix of 16-bit words; out: four registers a lane, plain then transposed.
__global__ void ldmatrix(const Params p) {
  __shared__ __align__(16) u16 smem[16 * 16];
  const u16* in = static_cast<const u16*>(p.in);
  for (u32 i = threadIdx.x; i < 256; i += 32) smem[i] = in[i];
  __syncwarp();
  const u32 lane = prim::lane_id();
  const u32 row = prim::smem_addr(smem + (lane % 16) * 16 + (lane / 16) * 8);
  u32 plain[4], trans[4];
  prim::ldmatrix_x4(plain, row);
  prim::ldmatrix_x4_trans(trans, row);
  u32* out = static_cast<u32*>(p.out) + 8 * lane;
  for (int i = 0; i < 4; ++i) {
    out[i] = plain[i];
    out[4 + i] = trans[i];
  }
}

// One warp. in: A [16][16], B [8][16] (n rows of k), both Element; out: D [16][8] = 1 + A Bt in f32.
template <class Element>
__global__ void mma(const Params p) {
  const u32* a = static_cast<const u32*>(p.in);  // pairs along k
  const u32* b = a + 16 * 8;
  float* out = static_cast<float*>(p.out);
  const u32 g = prim::lane_id() / 4, t = prim::lane_id() % 4;
  const u32 fragment[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]};
  float d[4] = {1, 1, 1, 1};
  prim::mma_m16n8k16<Element>(d, fragment, b[g * 8 + t], b[g * 8 + t + 4]);
  out[g * 8 + 2 * t] = d[0];
  out[g * 8 + 2 * t + 1] = d[1];
  out[(g + 8) * 8 + 2 * t] = d[2];
  out[(g + 8) * 8 + 2 * t + 1] = d[3];
}

}  // namespace hstu::check
