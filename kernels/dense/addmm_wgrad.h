// Parameters of addmm_wgrad_sm80 and addmm_dbias_sm80. Strides are in elements.
#pragma once
#include "tile/tile_counter.h"

namespace hstu {

// out = a^T b, summed over k rows: a is x and b is dout; with transposed the other way round.
struct AddmmWgradParams {
  const void* a;           // [k, m]
  const void* b;           // [k, n]
  const void* valid_rows;  // i32 or i64, or null: all k
  void* out;               // [m, n]
  void* bias;              // [n], or [m] with transposed; null: none
  float* partials;  // of each part: of each tile its sums, as its threads have them; behind all, those of the bias
  TileCounter* counters;
  long long m, n, k;
  long long a_line_stride, b_line_stride;        // between lines (tile/operand.cuh)
  long long a_element_stride, b_element_stride;  // read only where elements are gathered
  long long out_row_stride;
  int split;           // parts of the rows
  int accumulate;      // 1: adds to what is there
  int valid_rows_i64;  // 1: valid_rows is i64
  int reserved;
};
static_assert(sizeof(AddmmWgradParams) == 136, "host and device disagree about AddmmWgradParams");

// Rows that tensor cores add up before their sums are added to others in f32: they cut off where f32 would round.
enum : int { kRowsInTensorCores = 4096 };

}  // namespace hstu
