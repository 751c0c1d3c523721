// Parameters of the operators that add rows of tables to the rows of a jagged tensor: positions, times and a dense row
// a sequence. Fixed-width members only, passed by value as the kernel's one parameter; strides are in elements.
#pragma once

namespace hstu {

struct AddedRowsParams {
  const void* x;            // [rows, dim]
  void* out;                // [rows, dim]
  const void* seq_offsets;  // [batch + 1]
  const void* table[2];     // [table_rows, dim]; the second one only where the operator adds two rows
  long long rows;
  long long x_row_stride, out_row_stride;
  long long table_row_stride[2];
  long long table_rows[2];
  float alpha;  // factor of x
  int batch;
};
static_assert(sizeof(AddedRowsParams) == 104, "host and device disagree about AddedRowsParams");

// add_positional_embeddings_*
struct PositionalParams {
  AddedRowsParams rows;     // table 0: positions
  const void* num_targets;  // [batch]; read only when Config::kHasTargets
  int targets_factor;       // rows of a target: 2 if targets are interleaved with actions
  int reserved;
};
static_assert(sizeof(PositionalParams) == 120, "host and device disagree about PositionalParams");

// add_timestamp_positional_embeddings_*
struct TimestampPositionalParams {
  AddedRowsParams rows;         // table 0: positions, table 1: time buckets
  const void* num_targets;      // [batch]; read only when Config::kHasTargets
  const long long* timestamps;  // [rows], seconds
  const long long* query_time;  // [batch], or null: the time of a sequence's last row
  long long contextual_seq_len;
  int targets_factor;  // rows of a target: 2 if targets are interleaved with actions
  float time_bucket_increments;
};
static_assert(sizeof(TimestampPositionalParams) == 144, "host and device disagree about TimestampPositionalParams");

}  // namespace hstu
