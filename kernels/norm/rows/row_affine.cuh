// Weight and bias of a row norm: one value per column, or per group of columns under group norm (kGroupNorm).
#pragma once
#include "norm/rows/row_norm.cuh"

namespace hstu::tile {

// How a team gets weight and bias of its columns, which every row needs: a row of 2 KiB brings 4 KiB of them along.
enum : int { kWeightsLate = 0 };    // from memory when the statistics stand: fewest registers, L1 serves a busy SM
enum : int { kWeightsFirst = 1 };   // together with the rows: no second wait, more registers
enum : int { kWeightsShared = 2 };  // together with the rows, once for all teams of the block, through shared memory

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

// Weight and bias of the rows that a thread holds. start_loads() when the loads of the rows are under way, finish()
// when the statistics stand, apply() then.
template <class Config, class Shape>
class RowAffine {
  using Weight = typename Config::Weight;
  using Packs = RowPacks<Shape, Weight>;
  using Row = RowPacks<Shape, typename Config::Element>;
  enum : bool { kPerColumn = !Config::kGroupNorm && Config::kHasWeight };
  enum : bool { kShared = kPerColumn && !Shape::kLooped && Config::kWeights == kWeightsShared };
  enum : bool { kFirst = kPerColumn && Config::kWeights == kWeightsFirst };
  enum : int { kBytes = Shape::kDim * static_cast<int>(sizeof(Weight)) };                   // of weight, and of bias
  enum : int { kQuads = (Config::kHasBias ? 2 : 1) * kBytes / 16 };                         // of 16 bytes
  enum : int { kShares = kShared ? (kQuads + Shape::kThreads - 1) / Shape::kThreads : 1 };  // quads of a thread
  static_assert(!kShared || Shape::kVector * sizeof(Weight) % 16 == 0, "shared memory is filled in 16-byte accesses");

  const Weight* weight_;
  const Weight* bias_;
  unsigned char* smem_;
  Packs weight_pack_, bias_pack_;  // of this thread's columns, as stored, since they serve many rows
  prim::Quad share_[kShares];      // in flight to shared memory, which holds weight, then bias
  float group_weight_[Shape::kRowsPerThread], group_bias_[Shape::kRowsPerThread];

  static HSTU_PRIM int share_at(int i) { return static_cast<int>(threadIdx.x) + i * Shape::kThreads; }
  static HSTU_PRIM bool has_share(int i) { return kQuads % Shape::kThreads == 0 || share_at(i) < kQuads; }

  HSTU_PRIM void load_share() {
#pragma unroll
    for (int i = 0; i < kShares; ++i) {
      const int at = 16 * share_at(i);
      const char* from =
          at < kBytes ? reinterpret_cast<const char*>(weight_) : reinterpret_cast<const char*>(bias_) - kBytes;
      share_[i] = has_share(i) ? prim::ld_global(from + at) : prim::Quad{};
    }
  }
  HSTU_PRIM void store_share() const {
#pragma unroll
    for (int i = 0; i < kShares; ++i) {
      if (has_share(i)) prim::st_shared(prim::smem_addr(smem_ + 16 * share_at(i)), share_[i]);
    }
  }
  static HSTU_PRIM void load_from_shared(Packs& packs, const unsigned char* from, const RowTeam<Shape>& team) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (team.holds(a))
        load_shared(packs[a], from + team.column(a) * static_cast<int>(sizeof(Weight)));
      else
        clear(packs[a]);
    }
  }
  HSTU_PRIM void load_columns(const RowTeam<Shape>& team) {
    load_row<Shape>(weight_pack_, weight_, team);
    if constexpr (Config::kHasBias) load_row<Shape>(bias_pack_, bias_, team);
  }
  static HSTU_PRIM void load_long(float (&to)[Shape::kVector], const Weight* from, int column, int group) {
    if constexpr (Config::kGroupNorm) {
#pragma unroll
      for (float& value : to) value = prim::to_float(from[group]);
    } else {
      RowPack<Weight, Shape::kVector> pack;
      load(pack, from + column);
      unpack(to, pack);
    }
  }

 public:
  enum : int { kSmemBytes = kShared ? 16 * kQuads : 0 };

  HSTU_PRIM RowAffine(const void* weight, const void* bias, unsigned char* smem)
      : weight_(static_cast<const Weight*>(weight)), bias_(static_cast<const Weight*>(bias)), smem_(smem) {}

  // `row` is any row of this thread, whose use then waits for these loads as well; see await_both.
  HSTU_PRIM void start_loads(Row& row, const RowTeam<Shape>& team, const RowBlock<Shape>& rows) {
    [[maybe_unused]] const u32 zero = prim::opaque_zero();
    if constexpr (kFirst) {
      load_columns(team);
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) {
        await_both(row[a], weight_pack_[a], zero);
        if constexpr (Config::kHasBias) await_both(row[a], bias_pack_[a], zero);
      }
    }
    if constexpr (kShared) {
      load_share();
#pragma unroll
      for (const prim::Quad& quad : share_) row[0].word[0] ^= quad.word[0] & zero;
      if constexpr (Shape::kWarps > 1) store_share();  // the barrier of reduce_warps follows
    }
    if constexpr (Config::kGroupNorm) {
#pragma unroll
      for (int r = 0; r < Shape::kRowsPerThread; ++r) {
        const int group = rows.group(team.row + r * Shape::kRowsAtOnce);
        if constexpr (Config::kHasWeight) group_weight_[r] = prim::to_float(weight_[group]);
        if constexpr (Config::kHasBias) group_bias_[r] = prim::to_float(bias_[group]);
      }
    }
  }

  // Instead of finish(): shares are put down now, for apply_shared().
  HSTU_PRIM void share() {
    static_assert(kShared && Shape::kWarps == 1,
                  "weights of a team of several warps are shared by start_loads() already");
    store_share();
    __syncthreads();
  }
  // apply() of weights that stay in shared memory, which ends with the row's last column.
  HSTU_PRIM void apply_shared(float (&norm)[Shape::kVector], const float (&x)[Shape::kVector], const RowMoments& m,
                              const RowTeam<Shape>& team, int a) const {
    float w[Shape::kVector], b[Shape::kVector];
    const unsigned char* at = smem_ + team.read_column(a) * static_cast<int>(sizeof(Weight));
    RowPack<Weight, Shape::kVector> pack;
    load_shared(pack, at);
    unpack(w, pack);
    if constexpr (Config::kHasBias) {
      load_shared(pack, at + kBytes);
      unpack(b, pack);
    }
    normalise<Config>(norm, x, m, w, b);
  }

  HSTU_PRIM void finish(const RowTeam<Shape>& team, const RowMoments& moments) {
    if constexpr (kShared) {
      if constexpr (Shape::kWarps == 1) {
        // The dependence keeps ptxas from moving store and barrier in front of the statistics.
        share_[0].word[0] ^= __float_as_uint(moments.rstd) & prim::opaque_zero();
        store_share();
        __syncthreads();
      }
      load_from_shared(weight_pack_, smem_, team);
      if constexpr (Config::kHasBias) load_from_shared(bias_pack_, smem_ + kBytes, team);
    } else if constexpr (kPerColumn && !kFirst) {
      load_columns(team);
    }
  }

  // x of row r and access a, normalised.
  HSTU_PRIM void apply(float (&norm)[Shape::kVector], const float (&x)[Shape::kVector], const RowMoments& m, int r,
                       int a) const {
    float w[Shape::kVector], b[Shape::kVector];
    if constexpr (Config::kGroupNorm) {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        w[v] = group_weight_[r];
        b[v] = group_bias_[r];
      }
    } else {
      if constexpr (Config::kHasWeight) unpack(w, weight_pack_[a]);
      if constexpr (Config::kHasBias) unpack(b, bias_pack_[a]);
    }
    normalise<Config>(norm, x, m, w, b);
  }

  // The same for one access of a row too long for registers, weight and bias from memory.
  HSTU_PRIM void apply_long(float (&norm)[Shape::kVector], const float (&x)[Shape::kVector], const RowMoments& m,
                            int column, int group) const {
    float w[Shape::kVector], b[Shape::kVector];
    if constexpr (Config::kHasWeight) load_long(w, weight_, column, group);
    if constexpr (Config::kHasBias) load_long(b, bias_, column, group);
    normalise<Config>(norm, x, m, w, b);
  }
};

}  // namespace hstu::tile
