// Position and time embeddings of a jagged tensor, sm80: out = alpha * x + position row + time row, in f32, rounded
// once. See tile/added_rows.cuh for the work of a block.
//
// Position  contextual rows count from 0; history counts backwards, so that the newest row gets the smallest number;
//           targets share the number behind the contextual rows.
// Time      truncated square root or natural logarithm of the age in increments; ages are differences of 64-bit seconds
//           before they become floats, and the functions are the accurate ones: buckets have edges.
// Config    facts and knobs of tile/added_rows.cuh; Target (num_targets), kHasTargets, kLogarithm.
// Sources   meta-recsys/generative-recommenders, add_timestamp_positional_embeddings.
#pragma once
#include "tile/added_rows.cuh"
#include "tile/target_rows.cuh"

namespace hstu {

namespace timestamp_positional {

template <class Config>
class Find {
 public:
  enum : int { kTables = 2 };

  HSTU_PRIM Find(const TimestampPositionalParams& p, i64 row) : p_(p), time_(p.timestamps[row]) {}

  HSTU_PRIM void find(int (&number)[2], int sequence, i64 start, i64 end, i64 row) const {
    const i64 query_time = p_.query_time ? p_.query_time[sequence] : p_.timestamps[end - 1];
    i64 history = end - start;
    if constexpr (Config::kHasTargets)
      history -= tile::target_rows<typename Config::Target>(p_.num_targets, sequence, history) * p_.targets_factor;
    number[0] = position(row - start, history);
    number[1] = bucket(age_of(query_time));
  }

 private:
  // Of row `local` in a sequence with `history` rows before its targets.
  HSTU_PRIM int position(i64 local, i64 history) const {
    i64 position = local;
    if (local >= p_.contextual_seq_len) position = history - min(local, history) + p_.contextual_seq_len;
    return static_cast<int>(max(min(position, p_.rows.table_rows[0] - 1), i64{0}));
  }

  // Times may lie further apart than signed integers reach.
  HSTU_PRIM float age_of(i64 query_time) const {
    return query_time > time_ ? __ull2float_rn(static_cast<u64>(query_time) - static_cast<u64>(time_)) : 0.0f;
  }

  HSTU_PRIM int bucket(float age) const {
    const float increments = __fdiv_rn(fmaxf(age, 1e-6f), p_.time_bucket_increments);
    const float bucket = Config::kLogarithm ? logf(increments) : __fsqrt_rn(increments);
    // An infinite one, of small increments, becomes the largest integer.
    return static_cast<int>(max(min(i64{__float2ll_rz(bucket)}, p_.rows.table_rows[1] - 1), i64{0}));
  }

  const TimestampPositionalParams& p_;
  i64 time_;
};

}  // namespace timestamp_positional

template <class Config>
constexpr int timestamp_positional_sm80_smem_bytes = tile::added_rows_smem_bytes<Config, 2>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    timestamp_positional_sm80(const __grid_constant__ TimestampPositionalParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::add_rows<Config, timestamp_positional::Find<Config>>(p, smem);
}

}  // namespace hstu
