// A row of its own added to all rows of a sequence, sm80: out[r] = jagged[r] + dense[b], in f32, rounded once. See
// tile/added_rows.cuh for the work of a block.
//
// Config    facts and knobs of tile/added_rows.cuh.
// Sources   meta-recsys/generative-recommenders, jagged_dense_broadcast_add.
#pragma once
#include "tile/added_rows.cuh"

namespace hstu {

namespace jagged_broadcast_add {

struct Params {
  const AddedRowsParams& rows;
};

struct Find {
  enum : int { kTables = 1 };
  HSTU_PRIM Find(const Params&, i64) {}
  HSTU_PRIM void find(int (&number)[1], int sequence, i64, i64, i64) const { number[0] = sequence; }
};

}  // namespace jagged_broadcast_add

template <class Config>
constexpr int jagged_broadcast_add_sm80_smem_bytes = tile::added_rows_smem_bytes<Config, 1>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_broadcast_add_sm80(const __grid_constant__ AddedRowsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::add_rows<Config, jagged_broadcast_add::Find>(jagged_broadcast_add::Params{p}, smem);
}

}  // namespace hstu
