// Parameters of rel_bias_*: fixed-width members only, passed by value as the kernel's one parameter. Strides are in
// elements.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

struct RelBiasParams {
  enum : int { kBuckets = 148 };  // of differences of 64-bit timestamps
  // Steps are the buckets of differences with their signs; those from kLeastStep on are of differences nearer to 0 than
  // kNear, and two more.
  enum : int { kNear = 1 << 30, kLeastStep = -70, kSteps = 142 };
  const long long* timestamps;   // [batch, positions]
  const void* position_weights;  // [1 or heads, 2 positions - 1], Config::Table
  const void* time_weights;      // [1 or heads, last_bucket + 1], Config::Table
  void* rab;                     // [batch, heads, positions, positions], Config::Element
  long long timestamps_row_stride;
  long long position_weights_head_stride, time_weights_head_stride;  // 0: a row for all heads
  long long rab_batch_stride, rab_head_stride, rab_row_stride;
  int positions;
  int heads;
  int last_bucket;         // later ones count as this one
  unsigned pairs;          // of sequences and heads
  unsigned lane_bits;      // 2^lane_bits lanes of a warp side by side in a row
  unsigned warp_bits;      // 2^warp_bits such warps of a block
  unsigned strips;         // of as many columns as these have; more blocks along x: for more pairs than z has
  float limit[kBuckets];   // of each bucket's ages, rounded to floats: the next one's least
  int step_begin[kSteps];  // of each step: its least difference
  int reserved;
};
static_assert(sizeof(RelBiasParams) == 1272, "host and device disagree about RelBiasParams");

// rel_bias_sm90: lane_bits and warp_bits unused; strips have a tile for each of a block's warps.
struct RelBiasSm90Params {
  TensorMap rab;  // boxes of a tile
  RelBiasParams bias;
};
static_assert(sizeof(RelBiasSm90Params) == 1408, "host and device disagree about RelBiasSm90Params");

}  // namespace hstu
