// Parameters of rel_bias_*: fixed-width members only, passed by value as the kernel's one parameter. Strides are in
// elements.
#pragma once

namespace hstu {

struct RelBiasParams {
  enum : int { kBuckets = 148 };     // of differences of 64-bit timestamps
  enum : int { kNearBuckets = 72 };  // of differences below kNear, and two more
  enum : int { kNear = 1 << 30 };
  const long long* timestamps;   // [batch, positions]
  const void* position_weights;  // [1 or heads, 2 positions - 1], Config::Table
  const void* time_weights;      // [1 or heads, last_bucket + 1], Config::Table
  void* rab;                     // [batch, heads, positions, positions], Config::Element
  long long timestamps_row_stride;
  long long position_weights_head_stride, time_weights_head_stride;  // 0: a row for all heads
  long long rab_batch_stride, rab_head_stride, rab_row_stride;
  int positions;
  int heads;
  int last_bucket;               // later ones count as this one
  unsigned column_groups;        // pieces in a row
  unsigned lane_bits;            // 2^lane_bits lanes of a warp side by side in a row
  unsigned strips;               // of as many columns as these lanes have
  unsigned blocks_per_pair;      // blocks of threads for a head's matrix
  float least_age[kBuckets];     // of each bucket, of differences rounded to floats
  int least_near[kNearBuckets];  // of each bucket, of the differences themselves, kNear at most
  int reserved;
};
static_assert(sizeof(RelBiasParams) == 992, "host and device disagree about RelBiasParams");

}  // namespace hstu
