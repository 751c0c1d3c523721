// Quantisation to FP8 with one scale a unit, sm_80 generation:
//   descale = clamp(amax, amin, amax_bound) / largest FP8 value,  q = round(x / descale),  amax = max |x| of the unit
// A unit is a row, 128 columns of a row (the last group of a row may be shorter), or 128 rows by 128 columns; the
// tensor as one unit has its amax from fp8_amax, or its scale from the caller.
//
//   x ──16 bytes an access──► registers of the unit's team ──max──► scale ──► q
//
// A team of kTeam threads holds its unit in registers between the two passes over it, so memory is read once. Chunk c
// of a unit (kVector neighbouring elements) belongs to thread c % kTeam. Rows that kTeam = kThreads threads cannot hold
// are read twice, the second time mostly from L2 (kLooped).
//
// Arithmetic, so that q has the same bits everywhere: in f32, largest / amax and amax / largest are each
// rounded once, x * multiplier is rounded to f32 and then to FP8, to nearest even, saturating. With kPowerOfTwo the
// descale is rounded up to a power of two and the multiplier is its exact inverse. NaN in a unit makes its descale and
// all its elements NaN; an infinity makes the descale infinite, finite elements 0 and itself NaN.
//
// What runs, and the file or function behind each line:
//   team       load the unit, kAccesses chunks a thread            quantize_units, tile/row_pack.cuh
//              amax of each thread, then of the team               tile/fp8_row.cuh, quantize_team_max
//              descale and multiplier; store the descale           QuantizeScale, tile/fp8_row.cuh
//              quantise and store; kLooped: load the chunks again  quantize_store
//   or block   per-tensor: load chunks beside the 256 parts' amax  quantize_tensor, quantize_tensor_scale
//                quantise and store                                quantize_store
//
// Shared memory  amax of each of the team's warps, if it has several
//
// Config, problem facts
//   Element, Fp8     float, f16 or bf16; e4m3 or e5m2
//   kScaling         the unit: kPerTensor, kPerRow, kPerGroup, kPerBlock (tile/fp8_row.cuh)
//   kColumns         of x
//   kVector          elements an access: divides row length, addresses and row strides; at most 32 bytes of x
//   kStatic          kPerTensor: the scale is given
//   kPowerOfTwo
// Config, knobs
//   kThreads         of a block
//   kTeam            threads a unit, a power of two; not for kPerTensor
//   kAccesses        of a thread, kPerTensor only: elsewhere it follows from the team
#pragma once
#include "fp8/quantize_fp8.h"
#include "tile/fp8_row.cuh"

namespace hstu {

template <class Config>
struct QuantizeShape {
  enum : int { kVector = Config::kVector, kThreads = Config::kThreads, kTeam = Config::kTeam };
  enum : int { kScaling = Config::kScaling, kColumns = Config::kColumns };
  enum : int { kUnitRows = kScaling == tile::kPerBlock ? tile::kScaleSpan : 1 };
  enum : int { kUnitColumns = kScaling != tile::kPerRow ? tile::kScaleSpan : kColumns > 0 ? kColumns : kVector };
  enum : int { kChunksPerRow = kUnitColumns / kVector };  // of a unit
  enum : int { kChunks = kUnitRows * kChunksPerRow };
  enum : int { kUnitsPerRow = kColumns > 0 ? (kColumns + kUnitColumns - 1) / kUnitColumns : 1 };
  enum : int { kAccesses = (kChunks + kTeam - 1) / kTeam };
  enum : bool { kLooped = kAccesses * tile::RowPack<typename Config::Element, kVector>::kWords > 32 };
  enum : int { kTeams = kThreads / kTeam, kLanes = kTeam < 32 ? kTeam : 32, kWarps = kTeam / kLanes };
  static_assert(kColumns % kVector == 0 && kUnitColumns % kVector == 0, "an access must not cross the end of a unit");
  static_assert((kTeam & (kTeam - 1)) == 0 && kThreads % 32 == 0 && kThreads % kTeam == 0,
                "a block is made of whole warps and of whole teams");
  static_assert(!kLooped || (kTeam == kThreads && kScaling == tile::kPerRow),
                "only rows are too long to be held, and a whole block takes them");
};

template <class Config>
constexpr int quantize_fp8_sm80_smem_bytes =
    Config::kTeam > 32 && Config::kScaling != tile::kPerTensor ? Config::kThreads / 32 * 4 : 0;

// The unit's scale and its inverse.
template <class Config>
struct QuantizeScale {
  enum : u32 { kInfinity = 0x7f800000u };

  HSTU_PRIM QuantizeScale(const QuantizeFp8Params& p, u32 amax) {
    if (amax <= kInfinity) amax = min(amax, __float_as_uint(p.amax_bound));
    const tile::UnitScale<typename Config::Fp8> unit(amax, p.amin);
    descale = unit.descale();
    if constexpr (Config::kPowerOfTwo) {
      if (amax < kInfinity) descale = __uint_as_float((__float_as_uint(descale) + 0x7fffffu) & kInfinity);
      multiplier = prim::div_exact(1.0f, descale);
    } else {
      multiplier = unit.multiplier();
    }
    if (multiplier > __uint_as_float(kInfinity - 1)) descale = multiplier = 0.0f;  // no amin, and as good as zeros
  }
  HSTU_PRIM explicit QuantizeScale(float given) : descale(given), multiplier(prim::div_exact(1.0f, given)) {}

  float descale, multiplier;
};

template <class Config>
using QuantizePack = tile::RowPack<typename Config::Element, Config::kVector>;

template <class Config>
HSTU_PRIM void quantize_store(typename Config::Fp8* to, const QuantizePack<Config>& pack, float multiplier) {
  float value[Config::kVector];
  tile::unpack(value, pack);
  tile::RowPack<typename Config::Fp8, Config::kVector> q;
  tile::pack_fp8(q, value, multiplier);
  tile::store(to, q);
}

// A thread's place in its team, and the team's unit.
template <class Config>
struct QuantizeTeam {
  using Shape = QuantizeShape<Config>;
  using Element = typename Config::Element;
  using Fp8 = typename Config::Fp8;

  HSTU_PRIM explicit QuantizeTeam(const QuantizeFp8Params& p) : lane(threadIdx.x % Shape::kTeam) {
    const i64 unit = static_cast<i64>(blockIdx.x) * Shape::kTeams + threadIdx.x / Shape::kTeam;
    unit_row = unit / Shape::kUnitsPerRow;
    unit_column = static_cast<int>(unit - unit_row * Shape::kUnitsPerRow);
    rows_left = p.rows - unit_row * Shape::kUnitRows;
    const i64 first_row = unit_row * Shape::kUnitRows + row(0);
    const i64 first_column = static_cast<i64>(unit_column) * Shape::kUnitColumns + column(0);
    x = static_cast<const Element*>(p.x) + first_row * p.x_row_stride + first_column;
    q = static_cast<Fp8*>(p.q) + first_row * p.q_row_stride + first_column;
  }

  // Of the thread's chunk in an access, within the unit.
  HSTU_PRIM int row(int access) const { return (access * Shape::kTeam + lane) / Shape::kChunksPerRow; }
  HSTU_PRIM int column(int access) const {
    return (access * Shape::kTeam + lane) % Shape::kChunksPerRow * Shape::kVector;
  }
  HSTU_PRIM bool holds(int access) const {
    constexpr bool kWholeUnits = Shape::kColumns % Shape::kUnitColumns == 0;
    const bool in_unit = Shape::kChunks % Shape::kTeam == 0 || access * Shape::kTeam + lane < Shape::kChunks;
    return Shape::kColumns > 0 && in_unit && row(access) < rows_left &&
           (kWholeUnits || unit_column * Shape::kUnitColumns + column(access) < Shape::kColumns);
  }
  // Elements from the thread's first chunk to this one.
  HSTU_PRIM i64 offset(int access, i64 row_stride) const {
    if constexpr (Shape::kUnitRows == 1) return static_cast<i64>(access) * (Shape::kTeam * Shape::kVector);
    return (row(access) - row(0)) * row_stride + (column(access) - column(0));
  }

  int lane, unit_column;
  i64 unit_row, rows_left;
  const Element* x;  // the thread's first chunk
  Fp8* q;
};

// The team's amax from those of its threads.
template <class Shape>
HSTU_PRIM u32 quantize_team_max(u32 mine) {
  u32 amax = prim::lane_max<Shape::kLanes>(mine);
  if constexpr (Shape::kWarps > 1) {
    extern __shared__ __align__(16) unsigned char smem_storage[];
    const u32 smem = prim::smem_addr(smem_storage), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) prim::st_shared(smem + 4 * warp, amax);
    __syncthreads();
    amax =
        prim::lane_max<32>(prim::ld_shared4(smem + 4 * (warp / Shape::kWarps * Shape::kWarps + lane % Shape::kWarps)));
  }
  return amax;
}

template <class Config>
HSTU_PRIM void quantize_units(const QuantizeFp8Params& p) {
  using Shape = QuantizeShape<Config>;
  const QuantizeTeam<Config> team(p);
  tile::Amax<typename Config::Element> amax;
  constexpr int kHeld = Shape::kLooped ? 1 : Shape::kAccesses;
  QuantizePack<Config> held[kHeld];
  if constexpr (Shape::kLooped) {
#pragma unroll 8
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (!team.holds(a)) continue;
      tile::load(held[0], team.x + team.offset(a, p.x_row_stride));
      amax.add(held[0]);
    }
  } else {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (team.holds(a))
        tile::load(held[a], team.x + team.offset(a, p.x_row_stride));
      else
        tile::clear(held[a]);
    }
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) amax.add(held[a]);
  }

  const QuantizeScale<Config> scale(p, quantize_team_max<Shape>(amax.value()));
  if (team.lane == 0 && team.rows_left > 0)
    p.descale[team.unit_row * p.descale_row_stride + team.unit_column * p.descale_column_stride] = scale.descale;
  if constexpr (Shape::kLooped) {
#pragma unroll 8
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (!team.holds(a)) continue;
      tile::load(held[0], team.x + team.offset(a, p.x_row_stride));
      quantize_store<Config>(team.q + team.offset(a, p.q_row_stride), held[0], scale.multiplier);
    }
  } else {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (team.holds(a)) quantize_store<Config>(team.q + team.offset(a, p.q_row_stride), held[a], scale.multiplier);
    }
  }
}

// Given, or from amax of each of the tensor's 256 parts, eight a lane.
template <class Config>
HSTU_PRIM QuantizeScale<Config> quantize_tensor_scale(const QuantizeFp8Params& p) {
  if constexpr (Config::kStatic) return QuantizeScale<Config>(*p.static_descale);
  u32 amax = 0;
#pragma unroll
  for (int part = 0; part < 256; part += 32) {
    amax = max(amax, __float_as_uint(p.amax[part + prim::lane_id()]) & 0x7fffffffu);
  }
  return QuantizeScale<Config>(p, prim::lane_max(amax));
}

// The whole tensor under one scale: chunk after chunk, kAccesses a thread.
template <class Config>
HSTU_PRIM void quantize_tensor(const QuantizeFp8Params& p) {
  constexpr int kAccesses = Config::kAccesses, kColumns = Config::kColumns;
  constexpr int kChunksPerRow = kColumns > 0 ? kColumns / Config::kVector : 1;
  const i64 chunks = kColumns > 0 ? p.rows * kChunksPerRow : 0;
  const i64 first = static_cast<i64>(blockIdx.x) * (kAccesses * Config::kThreads) + threadIdx.x;
  QuantizePack<Config> held[kAccesses];
  typename Config::Fp8* q[kAccesses];
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    const i64 chunk = first + a * Config::kThreads;
    const i64 row = chunk / kChunksPerRow, column = (chunk - row * kChunksPerRow) * Config::kVector;
    q[a] = static_cast<typename Config::Fp8*>(p.q) + row * p.q_row_stride + column;
    if (chunk < chunks)
      tile::load(held[a], static_cast<const typename Config::Element*>(p.x) + row * p.x_row_stride + column);
  }
  const QuantizeScale<Config> scale = quantize_tensor_scale<Config>(p);
  if (first == 0) *p.descale = scale.descale;
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    if (first + a * Config::kThreads < chunks) quantize_store<Config>(q[a], held[a], scale.multiplier);
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    quantize_fp8_sm80(const __grid_constant__ QuantizeFp8Params p) {
  if constexpr (Config::kScaling == tile::kPerTensor)
    quantize_tensor<Config>(p);
  else
    quantize_units<Config>(p);
}

}  // namespace hstu
