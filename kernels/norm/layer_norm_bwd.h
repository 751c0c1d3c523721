// Parameters of layer_norm_bwd_sm80.
#pragma once
#include "tile/tile_counter.h"

namespace hstu {

struct LayerNormBwdParams {
  const void* x;           // [rows, kDim]
  const void* weight;      // [kDim]; read only when Config::kHasWeight
  const void* dout;        // [rows, kDim]
  const void* dresidual;   // [rows, kDim]; read only when Config::kHasDresidual
  const float* moments;    // [rows, 2]: mean, sum of squared deviations; read only when Config::kHasMoments
  const void* valid_rows;  // i32 or i64, or null: all rows
  void* dx;
  void* dweight;
  void* dbias;
  float* partials;  // [gridDim.x, sums, columns padded]: of each block, 128-byte aligned
  TileCounter* counters;
  long long rows;
  long long x_row_stride, dout_row_stride, dresidual_row_stride, moments_row_stride, dx_row_stride;
  float eps;
  int accumulate;      // of weight gradients: 1 adds to what is there
  int valid_rows_i64;  // 1: valid_rows is i64
  int reserved;
};
static_assert(sizeof(LayerNormBwdParams) == 152, "host and device disagree about LayerNormBwdParams");

// Each sum's columns take a multiple of so many floats in `partials`: whole lines of 128 bytes.
enum : int { kPartialsLine = 32 };

}  // namespace hstu
