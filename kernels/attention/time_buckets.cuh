// Ages of times and the buckets that they lie in, as every kernel of rel_bias_* finds them. From the approximate
// logarithm of an age comes a bucket that is right or one too low; where the next one begins, decides.
#pragma once
#include "attention/rel_bias.h"
#include "prim/math.cuh"
#include "tile/row_pack.cuh"

namespace hstu::rel_bias {

enum : int { kBuckets = RelBiasParams::kBuckets, kSteps = RelBiasParams::kSteps };

template <class Table>
HSTU_PRIM float weight_at(const Table* table, int index) {
  tile::RowPack<Table, 1> pack;
  float weight[1];
  tile::load(pack, table + index);
  tile::unpack(weight, pack);
  return weight[0];
}

// The bucket of an age of at least 0, or the one before, as the low bits of a number near kShift. A little less than
// ln(2) / 0.301 buckets a doubling, so that rounding never leads too high.
enum : u32 { kShiftBits = 0x4b000000u };
HSTU_PRIM u32 shifted_bucket(float age) {
  constexpr float kBucketsPerDoubling = 2.302812f, kShift = 8388608.0f;
  return __float_as_uint(__fmaf_rz(prim::lg2_approx(fmaxf(age, 1.0f)), kBucketsPerDoubling, kShift));
}

// How far apart times lie: at most 2^64, more than signed integers reach.
HSTU_PRIM float age_of(i64 a, i64 b) {
  const u64 exact = static_cast<u64>(a) - static_cast<u64>(b);
  return __ull2float_rn(a < b ? ~exact + 1 : exact);
}

// Whether no time near this one is at the other end of 64 bits, where differences are as small again.
HSTU_PRIM bool is_inside(i64 time) { return static_cast<u64>(time) + (u64{1} << 62) < u64{1} << 63; }

// The difference of times, one of which is_inside(), if it is so small that those of two such are nearer than kNear.
HSTU_PRIM int difference(i64 time, i64 base, bool& near) {
  constexpr u64 kMost = RelBiasParams::kNear / 2;
  const u64 exact = static_cast<u64>(time) - static_cast<u64>(base);
  near &= exact + kMost - 1 < 2 * kMost - 1;
  return static_cast<int>(static_cast<u32>(exact));
}

template <int Count>
HSTU_PRIM void bounds(const int (&value)[Count], int& least, int& most) {
  least = most = value[0];
#pragma unroll
  for (int i = 1; i < Count; ++i) {
    least = min(least, value[i]);
    most = max(most, value[i]);
  }
}

}  // namespace hstu::rel_bias
