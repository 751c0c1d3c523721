// The last rows of each of left's sequences replaced by right's, given lengths, sm80; where right is the longer one, by
// its tail. See jagged/runs/rows_by_lengths.cuh.
//
// Config    facts and knobs of jagged/runs/rows_by_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, replace_last_n_with_jagged.
#pragma once
#include "jagged/runs/rows_by_lengths.cuh"

namespace hstu {

namespace replace_last_n {

template <class Config>
struct Copy {
  enum : bool { kGivenIn = false, kShared = false };
  using Starts = tile::ChunkStarts<Config>;

  HSTU_PRIM static void lengths(const JaggedLengthsParams& p, int sequence, i64& out, i64& in) {
    out = tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
    in = tile::length_at<typename Config::RightLength>(p.right_lengths, sequence);
  }
  HSTU_PRIM static const char* from(const JaggedLengthsParams& p, const Starts& starts, int i, i64 row) {
    const i64 in_right = starts.in[i + 1] - (starts.out[i + 1] - row);
    return in_right >= starts.in[i] ? static_cast<const char*>(p.right) + in_right * p.right_row_stride
                                    : static_cast<const char*>(p.left) + row * p.left_row_stride;
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams&, const Starts&, int) {}
};

}  // namespace replace_last_n

template <class Config>
constexpr int replace_last_n_sm80_smem_bytes = tile::rows_by_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    replace_last_n_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RowsByLengths<Config, replace_last_n::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
