// Statistics of rows from those of their parts: who writes a row, part by part, leaves mean and sum of squared
// deviations of each, and nobody reads the row for its norm alone.
// Sources: Chan, Golub, LeVeque 1983.
#pragma once
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

struct PartMoments {
  float mean, squares;  // squares: of deviations from the mean, summed
};

// x as x * scale + shift is the row's normalised value.
struct RowScale {
  float scale, shift;
};

// Mean and 1 / sqrt(variance + eps) of kRows rows, whose kParts equal parts a quad of lanes shares: fetch() ahead of
// their use, merge() when the loads have had time.
template <int kRows, int kParts>
class MergedMoments {
 public:
  // Of `row`, as the thread's number `index`; moments are [rows, kParts].
  HSTU_PRIM void fetch(int index, const float* moments, i64 row) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const int part = part_of(i);
      prim::Pair pair = {};
      if (part < kParts) pair = prim::ld_global8(moments + (row * kParts + part) * 2);
      held_[index][i] = {__uint_as_float(pair.word[0]), __uint_as_float(pair.word[1])};
    }
  }
  HSTU_PRIM RowScale merge(int index, float part_columns, float eps) const {
    float mean = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kHeld; ++i) mean += held_[index][i].mean;
    mean = prim::lane_sum<4>(mean) * (1.0f / kParts);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const float shift = part_of(i) < kParts ? held_[index][i].mean - mean : 0.0f;
      squares += __fmaf_rn(shift * shift, part_columns, held_[index][i].squares);
    }
    squares = fmaxf(prim::lane_sum<4>(squares), 0.0f);  // of random numbers, as tuning has them, they may be negative
    const float rstd = prim::rsqrt_approx(squares * (1.0f / kParts) * prim::rcp_approx(part_columns) + eps);
    return {rstd, -mean * rstd};
  }

 private:
  enum : int { kHeld = (kParts + 3) / 4 };  // parts of a lane
  HSTU_PRIM static int part_of(int i) { return static_cast<int>(prim::lane_id() % 4) + 4 * i; }

  PartMoments held_[kRows][kHeld];
};

// Statistics of a part of a row while its values come, from a pivot near them, so that squares keep their digits
// however large the mean. A quad of lanes shares the part.
class PivotMoments {
 public:
  HSTU_PRIM void start(float first) {  // a value of the quad's first lane
    pivot_ = __shfl_sync(prim::kFullWarp, first, static_cast<int>(prim::lane_id() & ~3u));
    sum_ = squares_ = 0.0f;
  }
  HSTU_PRIM void add(float x) {
    const float d = x - pivot_;
    sum_ += d;
    squares_ = __fmaf_rn(d, d, squares_);
  }
  HSTU_PRIM PartMoments finish(float inverse_columns) const {
    const float sum = prim::lane_sum<4>(sum_), shift = sum * inverse_columns;
    return {pivot_ + shift, fmaxf(__fmaf_rn(-sum, shift, prim::lane_sum<4>(squares_)), 0.0f)};
  }

 private:
  float pivot_, sum_, squares_;
};

}  // namespace hstu::tile
