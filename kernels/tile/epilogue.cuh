// From mma accumulators to rows in memory, eight 16-bit elements at a time.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"

namespace hstu {

// Exchange among the four lanes of a quad, own inverse: word w of lane t becomes word t of lane w.
// A quad's accumulators of four neighbouring 8-column tiles, packed in pairs (word j: columns 8j + 2t, +1), become 16
// contiguous bytes a lane (word w: columns 8t + 2w, +1).
HSTU_PRIM void quad_transpose(prim::Quad& q) {
  const u32 lane = prim::lane_id();
  const auto exchange = [&](u32& low, u32& high, u32 distance) {
    const bool upper = lane & distance;
    const u32 received = __shfl_xor_sync(prim::kFullWarp, upper ? low : high, distance);
    (upper ? low : high) = received;
  };
  exchange(q.word[0], q.word[1], 1);
  exchange(q.word[2], q.word[3], 1);
  exchange(q.word[0], q.word[2], 2);
  exchange(q.word[1], q.word[3], 2);
}

// What kVector 16-bit elements are accessed as.
template <int kVector>
struct AccessWord;
template <>
struct AccessWord<8> {
  using Type = prim::Quad;
};
template <>
struct AccessWord<4> {
  using Type = u64;
};
template <>
struct AccessWord<2> {
  using Type = u32;
};
template <>
struct AccessWord<1> {
  using Type = u16;
};

// Loads the first `valid` of 8 elements (a multiple of kVector; less than 0 or more than 8 count as these), kVector
// elements an access. The rest is 0.
template <int kVector>
HSTU_PRIM prim::Quad load_chunk(const u16* src, int valid) {
  using Word = typename AccessWord<kVector>::Type;
  prim::Quad q{{0, 0, 0, 0}};
  if constexpr (kVector == 1) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < valid) q.word[i / 2] |= static_cast<u32>(src[i]) << (i % 2 * 16);
  } else {
#pragma unroll
    for (int i = 0; i < 8; i += kVector)
      if (i < valid) *reinterpret_cast<Word*>(&q.word[i / 2]) = *reinterpret_cast<const Word*>(src + i);
  }
  return q;
}

// Stores the first `valid` of 8 elements likewise.
template <int kVector>
HSTU_PRIM void store_chunk(u16* dst, const prim::Quad& q, int valid) {
  using Word = typename AccessWord<kVector>::Type;
#pragma unroll
  for (int i = 0; i < 8; i += kVector) {
    if (i >= valid) continue;
    if constexpr (kVector == 1)
      dst[i] = static_cast<u16>(q.word[i / 2] >> (i % 2 * 16));
    else
      *reinterpret_cast<Word*>(dst + i) = *reinterpret_cast<const Word*>(&q.word[i / 2]);
  }
}

}  // namespace hstu
