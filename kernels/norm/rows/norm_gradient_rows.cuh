// Facts and sums of the gradient of a norm whose results may go through a function, which rows in registers and rows in
// memory share: norm_gradient.cuh has the design and the Config.
#pragma once
#include "norm/row_norm_bwd.h"
#include "norm/rows/backward_rows.cuh"
#include "norm/rows/norm_output.cuh"

namespace hstu::tile {

// The gradient of 16-bit tensors has sums that may be f32: its sigmoid is no worse than f16's.
template <class Element>
HSTU_PRIM float gradient_sigmoid(float x) {
  if constexpr (sizeof(Element) == 2)
    return sigmoid<f16>(x);
  else
    return sigmoid<Element>(x);
}

// What a result says of its gradient. of_norm: of the value that the norm gave; direct: of x past the norm.
struct ResultGradient {
  float of_norm, direct;
};
template <class Output>
struct OutputGradient;
template <>
struct OutputGradient<NormOnly> {
  enum : bool { kReadsNorm = false, kHasDirect = false };
  template <class Element>
  static HSTU_PRIM ResultGradient apply(float dout, float, float) {
    return {dout, 0.0f};
  }
};
template <>
struct OutputGradient<SiluOfNorm> {
  enum : bool { kReadsNorm = true, kHasDirect = false };
  template <class Element>
  static HSTU_PRIM ResultGradient apply(float dout, float, float norm) {
    const float s = gradient_sigmoid<Element>(norm);
    return {dout * (s * __fmaf_rn(norm, 1.0f - s, 1.0f)), 0.0f};
  }
};
template <>
struct OutputGradient<SwishOfNorm> {
  enum : bool { kReadsNorm = true, kHasDirect = true };
  template <class Element>
  static HSTU_PRIM ResultGradient apply(float dout, float x, float norm) {
    const float s = gradient_sigmoid<Element>(norm), direct = dout * s;
    return {direct * (1.0f - s) * x, direct};
  }
};

// What follows from the Config.
template <class Config>
struct NormGradient {
  using Element = typename Config::Element;
  using Shape = RowShape<BackwardRows<Config>, kMaxBackwardValues>;
  using Output = OutputGradient<typename Config::Output>;
  enum : int { kSums = Config::kHasDweight + Config::kHasDbias, kDbias = Config::kHasDweight, kColumns = Shape::kDim };
  static_assert(kSums + Config::kHasDx > 0, "nothing to compute");
  static_assert(Config::kCentred || !Config::kHasDbias, "RMS norm has no bias");

  enum : bool { kReadsNorm = Output::kReadsNorm, kHasDirect = Output::kHasDirect && Config::kHasDx };
  enum : bool { kReadsWeight = Config::kHasWeight && (Config::kHasDx || kReadsNorm) };
  enum : bool { kReadsBias = Config::kHasBias && kReadsNorm };
  // Sums over a row are joined in a round for its statistics and in one for its gradient; of RMS norm alone in one.
  enum : bool { kOneRound = !Config::kCentred && !kReadsNorm && !Config::kHasMoments && Config::kHasDx };
  enum : bool { kTwoRounds = !kOneRound && !Config::kHasMoments && Config::kHasDx };
  enum : int { kPitch = (Shape::kDim + kPartialsLine - 1) / kPartialsLine * kPartialsLine };

  // Registers of a thread, and of them 4 for each of the partials that it adds up.
  enum : int { kBudget = 65536 / (Shape::kThreads * Config::kBlocksPerSm) };
  enum : int { kPartialsAtOnce = kBudget >= 112 ? 12 : kBudget >= 64 ? 8 : 2 };

  // Inputs of a row, in shared memory while they are in flight.
  enum : int { kX = 0, kDout = 1, kDresidual = 2, kInputs = 2 + Config::kHasDresidual };
  enum : int { kPieceBytes = Shape::kVector * static_cast<int>(sizeof(Element)) };
  enum : int { kPieces = Shape::kLooped ? 0 : Config::kRowsAhead * kInputs * Shape::kAccesses };
  using Prefetched = ThreadPrefetch<kPieces, Shape::kThreads, kPieceBytes>;
  using PrefetchedMoments =
      ThreadPrefetch<Shape::kLooped || !Config::kHasMoments ? 0 : Config::kRowsAhead, Shape::kThreads, 8>;
  using HeldSums = HeldColumnSums<Shape, kSums ? kSums : 1>;
  enum : int { kLongSumsBytes = Shape::kLooped ? kSums * kPitch * 4 : 0 };
  enum : bool { kLongSumsShared = kLongSumsBytes <= 131072 };  // of 163 KB that a block of sm_80 may have

  // Shared memory: two exchanges; then rows in flight, or sums of long ones, and behind them the sums that blocks and
  // teams exchange.
  enum : int { kExchangeBytes = Shape::kWarps > 1 ? 2 * Shape::kBlockWarps* static_cast<int>(sizeof(RowPartial)) : 16 };
  enum : int { kPrefetchBytes = int{Prefetched::kSmemBytes} + int{PrefetchedMoments::kSmemBytes} };
  enum : int { kRowsBytes = !Shape::kLooped ? int{kPrefetchBytes} : kLongSumsShared ? int{kLongSumsBytes} : 0 };
  enum : int { kTeamsBytes = Shape::kLooped || kSums == 0 ? 0 : int{HeldSums::kSmemBytes} };
  enum : int { kTotalsBytes = kSums == 0 ? 0 : add_partials_smem_bytes<Shape::kThreads> };
  enum : int { kJoinBytes = int{kTeamsBytes} > int{kTotalsBytes} ? int{kTeamsBytes} : int{kTotalsBytes} };
  enum : int {
    kSmemBytes = int{kExchangeBytes} + (int{kRowsBytes} > int{kJoinBytes} ? int{kRowsBytes} : int{kJoinBytes})
  };

  // Places of the two exchanges of a row, or of the one of every second.
  HSTU_PRIM static RowPartial* exchange_of(RowPartial* exchange, int step, int round) {
    return exchange + (kTwoRounds ? round : step % 2) * Shape::kBlockWarps;
  }
};

// Sums over the threads of a team; every thread gets them. exchange: a place for each warp of the block.
template <class Shape, int kCount>
HSTU_PRIM void team_sums(float (&sums)[kCount], RowPartial* exchange) {
  static_assert(kCount <= 2, "a place has room for two");
  prim::lane_sums<Shape::kLanes>(sums);
  if constexpr (Shape::kWarps > 1) {
    constexpr int kWarps = Shape::kWarps;
    const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
    if (lane == 0) exchange[warp] = {sums[0], sums[kCount - 1], 0.0f};
    __syncthreads();
    const RowPartial part = exchange[(warp & -kWarps) + (lane & (kWarps - 1))];
    sums[0] = part.pivot;
    if constexpr (kCount > 1) sums[1] = part.rest;
    prim::lane_sums<kWarps>(sums);
  }
}

// 1 / sqrt(squares / n + eps).
template <int n>
HSTU_PRIM float rstd_of(float squares, float eps) {
  return prim::rsqrt_approx(__fmaf_rn(squares, 1.0f / n, eps));
}

// Of moments that something else left.
template <class Config>
HSTU_PRIM RowGradient given_statistics(const PartMoments& moments, float eps) {
  constexpr int n = Config::kDim;
  float squares = fmaxf(moments.squares, 0.0f);  // of random numbers, as tuning has them, they may be negative
  if constexpr (!Config::kCentred) squares = __fmaf_rn(moments.mean * moments.mean, static_cast<float>(n), squares);
  return {Config::kCentred ? moments.mean : 0.0f, rstd_of<n>(squares, eps), 0.0f, 0.0f};
}

// Sums of a row's g * xhat, and of its g where there is a mean.
template <class Config>
struct NormGradientSums {
  enum : int { kCount = Config::kCentred ? 2 : 1 };
  float sum[kCount] = {};

  HSTU_PRIM void add(float g, float xhat) {
    sum[0] = __fmaf_rn(g, xhat, sum[0]);
    if constexpr (Config::kCentred) sum[1] += g;
  }
  // The team's, to what dx is made of.
  template <class Shape>
  HSTU_PRIM void finish(RowGradient& gradient, RowPartial* exchange) {
    team_sums<Shape>(sum, exchange);
    const float each = gradient.rstd * (1.0f / Config::kDim);
    gradient.of_xhat = -sum[0] * each;
    if constexpr (Config::kCentred) gradient.of_all = -sum[1] * each;
  }
};

// The sums of RMS norm in one round: of x * x and g * x.
template <class Config>
struct RmsSums {
  float sum[2] = {};

  HSTU_PRIM void add(float g, float x) {
    sum[0] = __fmaf_rn(x, x, sum[0]);
    sum[1] = __fmaf_rn(g, x, sum[1]);
  }
  template <class Shape>
  HSTU_PRIM RowGradient finish(RowPartial* exchange, float eps) {
    team_sums<Shape>(sum, exchange);
    const float rstd = rstd_of<Config::kDim>(sum[0], eps);
    return {0.0f, rstd, -(sum[1] * rstd) * (rstd * (1.0f / Config::kDim)), 0.0f};
  }
};

}  // namespace hstu::tile
