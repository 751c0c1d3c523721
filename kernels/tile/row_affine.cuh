// Weight and bias of a row norm: one value per column, or per group of columns under group norm (kGroups > 1).
#pragma once
#include "tile/row_norm.cuh"

namespace hstu::tile {

// The normalised values of one access of a row: (x - mean) * rstd * weight + bias.
template <class Config, int Count>
HSTU_PRIM void normalise(float (&norm)[Count], const float (&x)[Count], const RowMoments& m,
                         const float (&weight)[Count], const float (&bias)[Count]) {
#pragma unroll
  for (int v = 0; v < Count; ++v) {
    norm[v] = (x[v] - m.pivot - m.rest) * m.rstd;
    if constexpr (Config::kHasBias)
      norm[v] = __fmaf_rn(norm[v], weight[v], bias[v]);
    else if constexpr (Config::kHasWeight)
      norm[v] *= weight[v];
  }
}

// What a thread keeps of weight and bias for its rows. Columns are packed as stored, since they serve many rows.
template <class Config, class Shape>
struct RowAffine {
  using Weight = typename Config::Weight;
  static constexpr bool kPerColumn = Shape::kGroups == 1;

  RowPacks<Shape, Weight> weight, bias;
  float group_weight[Shape::kRowsPerThread], group_bias[Shape::kRowsPerThread];

  HSTU_PRIM void load_columns(const Weight* w, const Weight* b, const RowTeam<Shape>& team) {
    if constexpr (kPerColumn && Config::kHasWeight) load_row<Reuse::kMany, Shape>(weight, w, team, true);
    if constexpr (kPerColumn && Config::kHasBias) load_row<Reuse::kMany, Shape>(bias, b, team, true);
  }
  // See await_both.
  template <class Packs>
  HSTU_PRIM void join_columns(Packs& row, u32 zero) const {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if constexpr (kPerColumn && Config::kHasWeight) await_both(row[a], weight[a], zero);
      if constexpr (kPerColumn && Config::kHasBias) await_both(row[a], bias[a], zero);
    }
  }
  HSTU_PRIM void load_groups(const Weight* w, const Weight* b, const RowTeam<Shape>& team,
                             const RowBlock<Shape>& rows) {
    if constexpr (!kPerColumn) {
#pragma unroll
      for (int r = 0; r < Shape::kRowsPerThread; ++r) {
        const int group = rows.group(team.row + r * Shape::kRowsAtOnce);
        if constexpr (Config::kHasWeight) group_weight[r] = prim::to_float(w[group]);
        if constexpr (Config::kHasBias) group_bias[r] = prim::to_float(b[group]);
      }
    }
  }

  // x of row r and access a, normalised.
  HSTU_PRIM void apply(float (&norm)[Shape::kVector], const float (&x)[Shape::kVector], const RowMoments& m, int r,
                       int a) const {
    float w[Shape::kVector], b[Shape::kVector];
    if constexpr (kPerColumn) {
      if constexpr (Config::kHasWeight) unpack(w, weight[a]);
      if constexpr (Config::kHasBias) unpack(b, bias[a]);
    } else {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        w[v] = group_weight[r];
        b[v] = group_bias[r];
      }
    }
    normalise<Config>(norm, x, m, w, b);
  }
};

// One access of a row too long for registers, weight and bias from memory.
template <class Config, class Shape>
HSTU_PRIM void normalise_long(float (&norm)[Shape::kVector], const float (&x)[Shape::kVector], const RowMoments& m,
                              const typename Config::Weight* weight, const typename Config::Weight* bias, int column,
                              int group) {
  using Weight = typename Config::Weight;
  float w[Shape::kVector], b[Shape::kVector];
  const auto fetch = [&](float(&to)[Shape::kVector], const Weight* from) {
    if constexpr (Shape::kGroups == 1) {
      RowPack<Weight, Shape::kVector> pack;
      load<Reuse::kMany>(pack, from + column);
      unpack(to, pack);
    } else {
#pragma unroll
      for (float& value : to) value = prim::to_float(from[group]);
    }
  };
  if constexpr (Config::kHasWeight) fetch(w, weight);
  if constexpr (Config::kHasBias) fetch(b, bias);
  normalise<Config>(norm, x, m, w, b);
}

}  // namespace hstu::tile
