// The sums over a row that the gradient of a norm needs, and what follows from them. With g = dout * weight, c = x less
// a pivot near the mean:
//
//   mean, variance   from sums of c and c * c, or as the forward left them
//   dx               rstd * (g - mean(g) - xhat * mean(g * xhat)), xhat = (x - mean) * rstd
//
// mean(g * xhat) comes from the sum of g * c, so that all sums but the pivot's are joined in one round of shuffles, and
// in one exchange where a team has several warps, each with a pivot of its own.
#pragma once
#include "norm/rows/row_norm.cuh"
#include "tile/part_moments.cuh"

namespace hstu::tile {

// A thread's share of the sums of a row, then its warp's.
struct alignas(16) GradientSums {
  float pivot, rest, squares;  // rest: sum of c
  float g, gc;
  float unused[3];

  HSTU_PRIM void add(float x, float dout_weighted, bool keeps_rest) {
    const float c = x - pivot;
    if (keeps_rest) rest += c;
    squares = __fmaf_rn(c, c, squares);
    g += dout_weighted;
    gc = __fmaf_rn(dout_weighted, c, gc);
  }
};

// What a row's values need: dx = g * rstd + xhat * of_xhat + of_all.
struct RowGradient {
  float mean, rstd, of_xhat, of_all;

  HSTU_PRIM float normalised(float x) const { return (x - mean) * rstd; }
  HSTU_PRIM float dx(float xhat, float g) const { return __fmaf_rn(g, rstd, __fmaf_rn(xhat, of_xhat, of_all)); }
};

// Sums over the lanes of a team's warp. moments: the pivot is the mean and the same in all warps, squares are known.
template <bool kHasMoments, bool kRest, class Shape>
HSTU_PRIM void reduce_lanes(GradientSums& s) {
  float sums[4] = {s.g, s.gc, s.squares, s.rest};
  constexpr int kCount = kHasMoments ? 2 : kRest ? 4 : 3;
  float used[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) used[i] = sums[i];
  prim::lane_sums<Shape::kLanes>(used);
  s.g = used[0];
  s.gc = used[1];
  if constexpr (!kHasMoments) s.squares = used[2];
  if constexpr (kRest && !kHasMoments) s.rest = used[3];
}

template <int n>
HSTU_PRIM RowGradient row_gradient(float mean, float squares, float g, float gc, float eps) {
  squares = fmaxf(squares, 0.0f);  // of random numbers, as tuning has them for moments, they may be negative
  const float rstd = prim::rsqrt_approx(__fmaf_rn(squares, 1.0f / n, eps));
  const float each = rstd * (1.0f / n);
  return {mean, rstd, -gc * rstd * each, -g * each};
}

// Brings the sums of a team's warps together: in, this warp's, equal in all its lanes. exchange: a place for each warp
// of the block, which the next row must not use. By all threads.
template <bool kHasMoments, class Shape>
HSTU_PRIM RowGradient reduce_warps(const GradientSums& mine, GradientSums* exchange, float eps) {
  constexpr int kWarps = Shape::kWarps, kDim = Shape::kDim;
  const int warp = static_cast<int>(threadIdx.x / 32), first_warp = warp & -kWarps;
  const int lane = static_cast<int>(threadIdx.x % 32), of_lane = lane & (kWarps - 1);
  if (lane == 0) exchange[warp] = mine;
  __syncthreads();
  const GradientSums part = exchange[first_warp + of_lane];
  if constexpr (kHasMoments) {
    float sums[2] = {part.g, part.gc};
    prim::lane_sums<kWarps>(sums);
    return row_gradient<kDim>(mine.pivot, mine.squares, sums[0], sums[1], eps);
  } else {
    const float pivot = exchange[first_warp].pivot, n = warp_elements<Shape>(of_lane);
    float sums[2] = {part.g, __fmaf_rn(n, part.pivot - pivot, part.rest)};
    prim::lane_sums<kWarps>(sums);
    const float beyond = divide<kDim>(sums[1]);         // the mean less the team's pivot
    const float shift = beyond - (part.pivot - pivot);  // and less the warp's
    float about[2] = {__fmaf_rn(shift, __fmaf_rn(n, shift, -2.0f * part.rest), part.squares),
                      __fmaf_rn(-shift, part.g, part.gc)};
    prim::lane_sums<kWarps>(about);
    return row_gradient<kDim>(pivot + beyond, about[0], sums[0], about[1], eps);
  }
}

// What follows from a warp's joined sums; of a team within a warp without an exchange.
template <bool kHasMoments, bool kRest, class Shape>
HSTU_PRIM RowGradient finish_row(GradientSums& s, GradientSums* exchange, float eps) {
  reduce_lanes<kHasMoments, kRest, Shape>(s);
  if constexpr (Shape::kWarps > 1) {
    return reduce_warps<kHasMoments, Shape>(s, exchange, eps);
  } else if constexpr (kRest && !kHasMoments) {
    const float beyond = divide<Shape::kDim>(s.rest);
    return row_gradient<Shape::kDim>(s.pivot + beyond, __fmaf_rn(-s.rest, beyond, s.squares), s.g,
                                     __fmaf_rn(-beyond, s.g, s.gc), eps);
  } else {
    return row_gradient<Shape::kDim>(s.pivot, s.squares, s.g, s.gc, eps);
  }
}

// A warp's mean from this thread's sum of its values.
template <class Shape>
HSTU_PRIM float warp_pivot(float sum) {
  const float total = prim::lane_sum<Shape::kLanes>(sum);
  if constexpr (Shape::kWarps == 1 || Shape::kFull) return divide<Shape::kDim / Shape::kWarps>(total);
  const int warp = static_cast<int>(threadIdx.x / 32) & (Shape::kWarps - 1);
  return total * prim::rcp_approx(fmaxf(warp_elements<Shape>(warp), 1.0f));
}

}  // namespace hstu::tile
