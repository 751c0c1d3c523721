// Position embeddings of a jagged tensor, sm80: out = alpha * x + position row, in f32, rounded once. History counts
// forwards, targets share the number behind it. See tile/added_rows.cuh for the work of a block.
//
// Config    facts and knobs of tile/added_rows.cuh; Target (num_targets), kHasTargets.
// Sources   alibaba/TorchEasyRec, add_positional_embeddings.
#pragma once
#include "tile/added_rows.cuh"
#include "tile/target_rows.cuh"

namespace hstu {

namespace positional {

template <class Config>
class Find {
 public:
  enum : int { kTables = 1 };

  HSTU_PRIM Find(const PositionalParams& p, i64) : p_(p) {}

  HSTU_PRIM void find(int (&number)[1], int sequence, i64 start, i64 end, i64 row) const {
    i64 history = end - start;
    if constexpr (Config::kHasTargets)
      history -= tile::target_rows<typename Config::Target>(p_.num_targets, sequence, history) * p_.targets_factor;
    history = max(min(history, p_.rows.table_rows[0] - 1), i64{0});
    number[0] = static_cast<int>(min(row - start, history));
  }

 private:
  const PositionalParams& p_;
};

}  // namespace positional

template <class Config>
constexpr int positional_sm80_smem_bytes = tile::added_rows_smem_bytes<Config, 1>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    positional_sm80(const __grid_constant__ PositionalParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::add_rows<Config, positional::Find<Config>>(p, smem);
}

}  // namespace hstu
