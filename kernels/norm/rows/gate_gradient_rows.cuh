// Facts, rows and sums of the gradient of the HSTU output stage, which rows in registers and rows in memory share:
// norm_mul_bwd_sm80.cuh has the design and the Config.
#pragma once
#include "norm/norm_mul_bwd.h"
#include "norm/norm_mul_sm80.cuh"
#include "norm/rows/norm_gradient_rows.cuh"

namespace hstu::tile {

// A function of u and its slope.
struct ValueAndSlope {
  float value, slope;
};
template <class Activation>
struct ActivationGradient;
template <>
struct ActivationGradient<Identity> {
  template <class Element>
  static HSTU_PRIM ValueAndSlope apply(float u) {
    return {u, 1.0f};
  }
};
template <>
struct ActivationGradient<Silu> {
  template <class Element>
  static HSTU_PRIM ValueAndSlope apply(float u) {
    const float s = gradient_sigmoid<Element>(u);
    return {u * s, s * __fmaf_rn(u, 1.0f - s, 1.0f)};
  }
};
template <>
struct ActivationGradient<Sigmoid> {
  template <class Element>
  static HSTU_PRIM ValueAndSlope apply(float u) {
    const float s = gradient_sigmoid<Element>(u);
    return {s, s * (1.0f - s)};
  }
};

// What the norm's output is, and what its gradient `of_t` says of the value that the norm gave and of x past the norm.
struct NormedGradient {
  float t, of_norm, direct;
};
template <class Output, class Element>
HSTU_PRIM NormedGradient normed_gradient(float of_t, float x, float norm) {
  if constexpr (OutputGradient<Output>::kHasDirect) {
    const float s = gradient_sigmoid<Element>(norm), direct = of_t * s;
    return {x * s, direct * (1.0f - s) * x, direct};
  } else {
    return {norm, of_t, 0.0f};
  }
}

HSTU_PRIM constexpr int power_of_two_from(int count) {
  int power = 1;
  while (power < count) power *= 2;
  return power;
}

// Sums of a team's group over its rows, which the team's first thread has.
template <class Shape, int kSums>
class GroupSums {
 public:
  enum : int { kSmemBytes = kSums * Shape::kRowsAtOnce * 4 };
  float sum[kSums] = {};

  // To `to` [kSums, pitch]: of each group, all teams' in their order; 0 where no team has it. By all threads; smem:
  // kSmemBytes, which others may read until then.
  HSTU_PRIM void store_block(float* to, i64 pitch, unsigned char* smem) const {
    float* const place = reinterpret_cast<float*>(smem);
    const RowTeam<Shape> team;
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kSums; ++s)
      if (team.lane == 0) place[s * Shape::kRowsAtOnce + team.row] = sum[s];
    __syncthreads();
    const int first_group = static_cast<int>(static_cast<i64>(blockIdx.x) * Shape::kRowsAtOnce % Shape::kGroups);
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < kSums * Shape::kGroups; at += Shape::kThreads) {
      const int s = at / Shape::kGroups, group = at % Shape::kGroups;
      float total = 0.0f;
#pragma unroll 4
      for (int of = (group + Shape::kGroups - first_group) % Shape::kGroups; of < Shape::kRowsAtOnce;
           of += Shape::kGroups)
        total += place[s * Shape::kRowsAtOnce + of];
      to[s * pitch + group] = total;
    }
  }
};

template <bool kOfGroups, class Shape, int kSums>
struct EitherGateSums {
  using Type = HeldColumnSums<Shape, kSums>;
};
template <class Shape, int kSums>
struct EitherGateSums<true, Shape, kSums> {
  using Type = GroupSums<Shape, kSums>;
};

// What follows from the Config.
template <class Config>
struct GateGradient {
  using Element = typename Config::Element;
  using Shape = RowShape<OneRow<Config>, Config::kHeld ? int{kMaxBackwardValues} : 0>;
  static_assert(Shape::kLooped != Config::kHeld, "a thread holds at most 16 values of a row");
  using Segments = norm_mul::Segments<Config>;
  enum : int { kSums = Config::kHasDweight + Config::kHasDbias, kDbias = Config::kHasDweight };
  enum : bool { kHasGradient = kSums > 0 || Config::kHasDattn || Config::kHasDu };
  static_assert(kHasGradient || Config::kHasOut, "nothing to compute");
  static_assert(Config::kCentred || !Config::kHasDbias, "RMS norm has no bias");

  enum : bool { kSwish = OutputGradient<typename Config::Output>::kHasDirect };
  enum : bool { kReadsNorm = Config::kHasDu || Config::kHasOut || kSwish };
  enum : bool { kHasDirect = kSwish && Config::kHasDattn };
  enum : bool { kReadsWeight = Config::kHasDattn || kReadsNorm, kReadsBias = Config::kHasBias && kReadsNorm };
  // Sums over a row are joined in a round for its statistics and in one for its gradient.
  enum : bool { kJoinsGradient = Config::kHasDattn || (Config::kGroupNorm && kSums > 0) };
  enum : bool { kTwoRounds = Config::kParts == 0 && kJoinsGradient };
  enum : int { kSumColumns = Config::kGroupNorm ? int{Shape::kGroups} : int{Shape::kDim} };
  enum : int { kPitch = (kSumColumns + kPartialsLine - 1) / kPartialsLine * kPartialsLine };

  // Registers of a thread, and of them 4 for each of the partials that it adds up.
  enum : int { kBudget = 65536 / (Shape::kThreads * Config::kBlocksPerSm) };
  enum : int { kPartialsAtOnce = kBudget >= 112 ? 12 : kBudget >= 64 ? 8 : 2 };

  // Bits of an access that say what dropped out.
  enum : int { kMaskBits = Segments::kCount * Shape::kVector };
  static_assert(Shape::kLooped || kMaskBits * Shape::kAccesses <= 64, "the bits of all accesses fit into one number");

  // Inputs of a row, in shared memory while they are in flight: attn, u, and the segments of dout that are used.
  enum : bool { kReadsDcopy = Config::kHasDu && Config::kConcatU, kReadsDx = Config::kHasDattn && Config::kConcatX };
  enum : int { kX = 0, kU = 1, kDy = 2, kDcopy = kDy + kHasGradient, kDx = kDcopy + kReadsDcopy };
  enum : int { kInputs = kDx + kReadsDx };
  enum : int { kPieceBytes = Shape::kVector * static_cast<int>(sizeof(Element)) };
  enum : int { kPieces = Shape::kLooped ? 0 : Config::kRowsAhead * kInputs * Shape::kAccesses };
  using Prefetched = ThreadPrefetch<kPieces, Shape::kThreads, kPieceBytes>;

  // Moments of a team's parts, which kPartLanes neighbouring lanes share.
  enum : int { kTeamParts = Config::kParts / Shape::kGroups };
  enum : int { kEnoughLanes = power_of_two_from(kTeamParts) };
  enum : int { kPartLanes = int{kEnoughLanes} < int{Shape::kLanes} ? int{kEnoughLanes} : int{Shape::kLanes} };
  enum : int { kLaneParts = (kTeamParts + kPartLanes - 1) / kPartLanes };
  // Those of a lane are in flight with their row if they are few; else they are read when they are needed, twice.
  enum : int { kPartsHeld = Shape::kLooped || kLaneParts > 2 ? 0 : kLaneParts };
  using PrefetchedMoments = ThreadPrefetch<Config::kRowsAhead * kPartsHeld, Shape::kThreads, 8>;

  using Sums = typename EitherGateSums<Config::kGroupNorm, Shape, kSums ? kSums : 1>::Type;
  enum : int { kLongSumsBytes = Shape::kLooped && !Config::kGroupNorm ? kSums * kPitch * 4 : 0 };
  enum : bool { kLongSumsShared = kLongSumsBytes <= 98304 };  // of 99 KB that a block of any device may have

  // Shared memory: two exchanges; then rows in flight, or sums of long ones, and behind them the sums that blocks and
  // teams exchange.
  enum : int { kExchangeBytes = Shape::kWarps > 1 ? 2 * Shape::kBlockWarps* static_cast<int>(sizeof(RowPartial)) : 16 };
  enum : int { kPrefetchBytes = int{Prefetched::kSmemBytes} + int{PrefetchedMoments::kSmemBytes} };
  enum : int { kRowsBytes = !Shape::kLooped ? int{kPrefetchBytes} : kLongSumsShared ? int{kLongSumsBytes} : 0 };
  enum : int { kTeamsBytes = kSums == 0 || (Shape::kLooped && !Config::kGroupNorm) ? 0 : int{Sums::kSmemBytes} };
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

// The rows of a team, a step each, of which it has one group; all teams of a block take as many steps, the last one
// perhaps without a row.
template <class Shape>
struct TeamRows {
  i64 first, stride;  // of the rows, from one to the next
  int group;
  int steps;             // of the block
  int rows, valid_rows;  // of the team: those that exist, and of them those that enter sums over rows

  HSTU_PRIM TeamRows(const NormMulBwdParams& p, const RowTeam<Shape>& team) {
    const i64 block = static_cast<i64>(blockIdx.x) * Shape::kRowsAtOnce, at = block + team.row;
    first = at / Shape::kGroups;
    group = static_cast<int>(at % Shape::kGroups);
    stride = static_cast<i64>(gridDim.x) * Shape::kRowsAtOnce / Shape::kGroups;  // a whole number
    steps = below(p.rows + (first - block / Shape::kGroups));
    rows = below(p.rows);
    valid_rows = rows;
    if (!p.valid_rows) return;
    const i64 valid =
        p.valid_rows_i64 ? *static_cast<const i64*>(p.valid_rows) : *static_cast<const i32*>(p.valid_rows);
    valid_rows = below(valid < p.rows ? valid : p.rows);
  }
  HSTU_PRIM i64 row(int index) const { return first + index * stride; }

 private:
  HSTU_PRIM int below(i64 end) const { return end > first ? static_cast<int>((end - first + stride - 1) / stride) : 0; }
};

// Statistics of a row, or of a group of it, from moments of its parts: each warp of the team merges them by itself.
template <class Config>
struct PartStatistics {
  using Kernel = GateGradient<Config>;
  enum : int { kLanes = Kernel::kPartLanes, kParts = Kernel::kTeamParts, kOfLane = Kernel::kLaneParts };

  HSTU_PRIM static int part(int index) { return static_cast<int>(threadIdx.x) % kLanes + index * kLanes; }
  HSTU_PRIM static bool has(int index) { return kParts % kLanes == 0 || part(index) < kParts; }
  // Where the moments of a part lie, of any that there are for one that there is not.
  HSTU_PRIM static const float* address(const NormMulBwdParams& p, i64 row, int group, int index) {
    return p.moments + row * p.moments_row_stride + 2 * (group * kParts + (has(index) ? part(index) : 0));
  }
  HSTU_PRIM static PartMoments read(const NormMulBwdParams& p, i64 row, int group, int index) {
    const prim::Pair pair = prim::ld_global8(address(p, row, group, index));
    return {__uint_as_float(pair.word[0]), __uint_as_float(pair.word[1])};
  }

  // of_part(i): the lane's i-th part, whatever it says of one that there is not.
  template <int kUnroll, class OfPart>
  HSTU_PRIM static RowMoments merge(const OfPart& of_part, float eps) {
    constexpr float n = static_cast<float>(Config::kDim), each = n / kParts;
    float mean = 0.0f, squares = 0.0f;
#pragma unroll kUnroll
    for (int i = 0; i < kOfLane; ++i) mean += has(i) ? of_part(i).mean : 0.0f;
    mean = prim::lane_sum<kLanes>(mean) * (1.0f / kParts);
#pragma unroll kUnroll
    for (int i = 0; i < kOfLane; ++i) {
      const PartMoments of = of_part(i);
      const float shift = of.mean - mean;
      if (has(i)) squares += kParts == 1 ? of.squares : __fmaf_rn(shift * shift, each, of.squares);
    }
    squares = fmaxf(prim::lane_sum<kLanes>(squares), 0.0f);  // of random numbers they may be negative
    if constexpr (!Config::kCentred) squares = __fmaf_rn(mean * mean, n, squares);
    return {Config::kCentred ? mean : 0.0f, 0.0f, rstd_of<Config::kDim>(squares, eps), squares};
  }
  HSTU_PRIM static RowMoments from_memory(const NormMulBwdParams& p, i64 row, int group) {
    return merge<1>([&](int i) { return read(p, row, group, i); }, p.eps);
  }
};

// Sums of a row's g * xhat, and of its g where there is a mean; of groups of r in the place of g, for their weight's
// gradient is of the same sums.
template <class Config>
struct GateSums {
  using Kernel = GateGradient<Config>;
  enum : int { kCount = Config::kCentred ? 2 : 1 };
  float sum[kCount] = {};

  HSTU_PRIM void add(float g, float xhat) {
    sum[0] = __fmaf_rn(g, xhat, sum[0]);
    if constexpr (Config::kCentred) sum[1] += g;
  }
  HSTU_PRIM void join(RowPartial* exchange) { team_sums<typename Kernel::Shape>(sum, exchange); }
  // weight: of the group; else 1.
  HSTU_PRIM RowGradient gradient(const RowMoments& m, float weight) const {
    const float each = m.rstd * (1.0f / Config::kDim) * weight;
    return {m.pivot, m.rstd, -sum[0] * each, Config::kCentred ? -sum[kCount - 1] * each : 0.0f};
  }
  template <class Sums>
  HSTU_PRIM void add_to(Sums& group) const {
    if constexpr (Config::kHasDweight) group.sum[0] += sum[0];
    if constexpr (Config::kHasDbias) group.sum[Kernel::kDbias] += sum[kCount - 1];
  }
};

// What the forward's functions take of its parameters.
HSTU_PRIM NormMulParams forward_of(const NormMulBwdParams& p) {
  NormMulParams forward = {};
  forward.out = p.out;
  forward.out_row_stride = p.out_row_stride;
  forward.dropout = p.dropout;
  return forward;
}

// One access of all segments of out.
template <class Config>
HSTU_PRIM void write_out(const NormMulBwdParams& p, i64 row, int group, int column, const float (&x)[Config::kVector],
                         const float (&norm)[Config::kVector], const norm_mul::Pack<Config>& u, u32 mask) {
  float attn[Config::kVector];
#pragma unroll
  for (int v = 0; v < Config::kVector; ++v) attn[v] = x[v];
  norm_mul::store_access<Config, true>(forward_of(p), row, group, column, attn, norm, u, mask);
}

}  // namespace hstu::tile
