// Parameters of the jagged operators that take lengths, and of those on vectors of integers: fixed-width members only,
// passed by value as the kernel's one parameter. Strides are in bytes where elements are known by size alone.
#pragma once

namespace hstu {

// concat_1d_jagged_*, split_1d_jagged_*, jagged_remove_1d_*, replace_last_n_*, jagged_transpose_1d_*,
// jagged_truncate_history_*
struct JaggedLengthsParams {
  const void* left_lengths;   // [batch]; truncation: the targets, where there are any; transposition: may be null
  const void* right_lengths;  // [batch], or null where there is one part
  const void* offsets;        // transposition, truncation: of the segments as they are read
  void* left;                 // concatenation and replacement only read the parts
  void* right;
  void* combined;
  void* out_offsets;  // transposition, truncation: [batch + 1]; the former: or null
  void* out_lengths;  // transposition: [batch], or null
  long long left_row_stride, right_row_stride, combined_row_stride;  // bytes
  long long rows;                                                    // of combined
  long long columns;  // transposition: segment i * columns + j becomes j * segment_rows + i
  long long segment_rows;
  long long contextual, keep;        // truncation: rows that come first, history rows that stay
  long long density, right_density;  // vectors: sequences a row times 2^32, of right's in splitting
  long long right_share;             // splitting: units of right in one unit, times 2^32, rounded up
  long long left_rows;               // vectors of two parts
  void* tile_counters;               // vectors: LaunchMemory
  unsigned units, static_units;  // vectors: what a warp copies at once; those scheduled statically, not by the counter
  int batch, reserved;
};
static_assert(sizeof(JaggedLengthsParams) == 184, "host and device disagree about JaggedLengthsParams");

// complete_cumsum_*
struct CumsumParams {
  const void* values;  // [count]
  void* out;           // [count + 1]
  long long count;
};
static_assert(sizeof(CumsumParams) == 24, "host and device disagree about CumsumParams");

// cumsum_tiles_*
struct CumsumTilesParams {
  const void* values;  // [count]
  void* out;           // [count + 1]
  long long count;
  void* tile_counters;  // LaunchMemory
  unsigned tiles;
  int tile_parts;  // of a tile that is read twice
};
static_assert(sizeof(CumsumTilesParams) == 40, "host and device disagree about CumsumTilesParams");

// expand_1d_jagged_to_dense_*
struct ExpandParams {
  const void* values;
  const void* offsets;  // [batch + 1]
  void* out;            // [batch, max_len]
  long long max_len;
  long long out_row_stride;  // elements
  long long batch;
  unsigned row_spans;  // spans a row of out
  int reserved;
};
static_assert(sizeof(ExpandParams) == 56, "host and device disagree about ExpandParams");

}  // namespace hstu
