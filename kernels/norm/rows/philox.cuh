// Philox4x32 with 10 rounds: 128 random bits of any (counter, key), in any order. Source: Salmon et al. 2011, Parallel
// random numbers: as easy as 1, 2, 3.
#pragma once
#include "prim/types.cuh"

namespace hstu::tile {

enum : u32 { kFactor = 0xD2511F53u };

// One round with its round key. What neighbours share folds away where the compiler sees it.
HSTU_PRIM void philox_round(u32 (&c)[4], u32 key0, u32 key1) {
  const u64 a = static_cast<u64>(kFactor) * c[0], b = static_cast<u64>(0xCD9E8D57u) * c[2];
  const u32 c0 = static_cast<u32>(b >> 32) ^ c[1] ^ key0, c2 = static_cast<u32>(a >> 32) ^ c[3] ^ key1;
  c[1] = static_cast<u32>(b);
  c[3] = static_cast<u32>(a);
  c[0] = c0;
  c[2] = c2;
}

// The first kWords words of the counters first to first + kCount - 1. first must be a multiple of kCount, a power of
// two: then all counters share their upper half, and with it most of the first two rounds.
template <int kWords, int kCount>
HSTU_PRIM void philox(u32 (&word)[kWords][kCount], u64 first, u32 seed_low, u32 seed_high) {
  static_assert(kWords <= 4 && (kCount & (kCount - 1)) == 0, "a counter gives four words");
  // The first round, one product for all; wide products are what bounds Philox, at 32 a clock and SM.
  const u64 product = static_cast<u64>(kFactor) * static_cast<u32>(first);
  const u32 high = static_cast<u32>(first >> 32) ^ seed_low;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    // A sum is cheaper than a product from four counters on.
    const u64 a = kCount < 4 ? static_cast<u64>(kFactor) * (static_cast<u32>(first) + static_cast<u32>(i))
                             : product + static_cast<u64>(kFactor) * i;
    u32 c[4] = {high, 0, static_cast<u32>(a >> 32) ^ seed_high, static_cast<u32>(a)};
#pragma unroll
    for (int r = 1; r < 10; ++r)
      philox_round(c, seed_low + static_cast<u32>(r) * 0x9E3779B9u, seed_high + static_cast<u32>(r) * 0xBB67AE85u);
#pragma unroll
    for (int w = 0; w < kWords; ++w) word[w][i] = c[w];
  }
}

}  // namespace hstu::tile
