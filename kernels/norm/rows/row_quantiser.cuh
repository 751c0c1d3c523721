// From the rows that a norm's teams hold to FP8, with per-row scales or one for 128 columns of a row, as quantize_fp8
// would make it (UnitScale).
#pragma once
#include "norm/row_norm.h"
#include "norm/rows/row_norm.cuh"
#include "tile/fp8_row.cuh"

namespace hstu::tile {

// Config: Fp8 e4m3 or e5m2; kScaling kPerRow or kPerGroup, kPerTensor: nothing is quantised. Shared memory has the
// amax of every warp's rows, where several warps share one.

// The amax (largest magnitude) of each unit of a thread's rows, as bits of floats. An access has kWidth results:
// kParts equal parts, each of which lies with those of its neighbours in 128 columns of its own.
template <class Config, class Shape, int kParts = 1, int kWidth = Shape::kVector>
class RowAmax {
 public:
  enum : bool { kOn = Config::kScaling != kPerTensor, kGrouped = Config::kScaling == kPerGroup };
  enum : int { kRows = Shape::kRowsPerThread, kPart = kWidth / kParts };
  enum : int { kSmemBytes = Config::kScaling == kPerRow && Shape::kWarps > 1 ? kRows * 4 * Shape::kBlockWarps : 0 };
  enum : int { kUnitLanes = kScaleSpan / kPart < Shape::kThreadsPerRow ? kScaleSpan / kPart : Shape::kThreadsPerRow };
  enum : int { kUnits = kGrouped ? Shape::kAccesses * kParts : 1 };
  static_assert(!kGrouped || (kUnitLanes <= 32 && (Shape::kAccesses == 1 || kUnitLanes * kPart == kScaleSpan)),
                "128 columns lie in one access of part of a warp");
  static_assert(!kOn || !Shape::kLooped, "rows are held until their amax is known");

  u32 bits[kRows][kUnits];

  // Of this thread's warp alone, where a row may have more; the caller brings its warps together. Compared as floats,
  // by one instruction an element instead of two; norm_mul would take 80 registers so, and 72 as it is.
  struct OfWarp {};
  HSTU_PRIM RowAmax(OfWarp, const float (&x)[kRows][Shape::kAccesses][kWidth], const RowTeam<Shape>& team) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) find<true>(bits[r], x[r], team);
  }
  // x: this thread's parts of its rows. smem: kSmemBytes.
  HSTU_PRIM RowAmax(const float (&x)[kRows][Shape::kAccesses][kWidth], const RowTeam<Shape>& team, u32 smem) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) find<false>(bits[r], x[r], team);
    if constexpr (kSmemBytes > 0) reduce(smem);
  }

  // The unit that part `part` of access `access` lies in.
  static HSTU_PRIM int unit(int access, int part) { return kUnits == 1 ? 0 : access * kParts + part; }
  HSTU_PRIM u32 of(int row, int access, int part) const { return bits[row][unit(access, part)]; }
  // What elements of a row's units are multiplied with; all at once, as each takes a division.
  template <class Fp8>
  HSTU_PRIM void multipliers(float (&to)[kUnits], int row) const {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) to[u] = UnitScale<Fp8>(bits[row][u]).multiplier();
  }
  // Whether this thread writes the scale of an access's units.
  HSTU_PRIM static bool writes(const RowTeam<Shape>& team, int access) {
    return kGrouped ? team.lane % kUnitLanes == 0 : access == 0 && team.lane == 0;
  }

 private:
  enum : int { kLanes = kGrouped ? kUnitLanes : Shape::kLanes };  // that share one

  template <bool kAsFloats>
  HSTU_PRIM static void find(u32 (&amax)[kUnits], const float (&x)[Shape::kAccesses][kWidth],
                             const RowTeam<Shape>& team) {
#pragma unroll
    for (u32& unit : amax) unit = 0;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a)
#pragma unroll
      for (int v = 0; v < kWidth; ++v) {
        u32& so_far = amax[unit(a, v / kPart)];
        if (!team.holds(a)) continue;
        if constexpr (kAsFloats)
          so_far = __float_as_uint(prim::max_magnitude(__uint_as_float(so_far), x[a][v]));
        else
          so_far = max(so_far, __float_as_uint(x[a][v]) & 0x7fffffffu);
      }
#pragma unroll
    for (u32& unit : amax) unit = prim::lane_max<kLanes>(unit);
  }

  // Of a team's warps.
  HSTU_PRIM void reduce(u32 smem) {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (lane == 0) prim::st_shared(smem + (r * Shape::kBlockWarps + warp) * 4, bits[r][0]);
    __syncthreads();
    const u32 from = warp / Shape::kWarps * Shape::kWarps + lane % Shape::kWarps;
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      bits[r][0] = prim::lane_max<32>(prim::ld_shared4(smem + (r * Shape::kBlockWarps + from) * 4));
  }
};

// Of rows whose accesses are contiguous.
template <class Config, class Shape>
class RowQuantiser {
 public:
  using Amax = RowAmax<Config, Shape>;
  enum : bool { kOn = Amax::kOn };
  enum : int { kRows = Amax::kRows, kSmemBytes = Amax::kSmemBytes };

  HSTU_PRIM RowQuantiser(const RowNormParams& p, unsigned char* smem) : p_(p), smem_(prim::smem_addr(smem)) {}

  // x: this thread's parts of its rows.
  HSTU_PRIM void run(const float (&x)[kRows][Shape::kAccesses][Shape::kVector], const RowTeam<Shape>& team,
                     const RowBlock<Shape>& rows) const {
    const Amax amax(x, team, smem_);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = team.row + r * Shape::kRowsAtOnce;
      if (rows.has(row)) store(x[r], amax, r, rows.matrix_row(row), team);
    }
  }

  // One row, number `row` of the matrix.
  HSTU_PRIM void run_row(const float (&x)[kRows][Shape::kAccesses][Shape::kVector], const RowTeam<Shape>& team, i64 row,
                         bool writes) const {
    static_assert(kRows == 1 && kSmemBytes == 0, "a row by part of a warp");
    const Amax amax(typename Amax::OfWarp{}, x, team);
    if (writes) store(x[0], amax, 0, row, team);
  }

 private:
  using Fp8 = typename Config::Fp8;

  HSTU_PRIM void store(const float (&x)[Shape::kAccesses][Shape::kVector], const Amax& amax, int r, i64 row,
                       const RowTeam<Shape>& team) const {
    Fp8* to = static_cast<Fp8*>(p_.y) + row * p_.y_row_stride + team.column(0);
    float* descale = p_.descale + row * p_.descale_row_stride;
    float multiplier[Amax::kUnits];
    amax.template multipliers<Fp8>(multiplier, r);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (!team.holds(a)) continue;
      RowPack<Fp8, Shape::kVector> q;
      pack_fp8(q, x[a], multiplier[Amax::unit(a, 0)]);
      tile::store(to + a * Shape::kStep, q);
      if (Amax::writes(team, a))
        descale[Amax::kGrouped ? team.column(a) / kScaleSpan * p_.descale_column_stride : 0] =
            UnitScale<Fp8>(amax.of(r, a, 0)).descale();
    }
  }

  const RowNormParams& p_;
  const u32 smem_;
};

}  // namespace hstu::tile
