// Parameters of the row norms: layer_norm_*, rms_norm_*, group_norm_* and swish_layer_norm_*.
#pragma once

namespace hstu {

struct RowNormParams {
  const void* x;       // [rows, kGroups * kDim]
  const void* weight;  // [dim], or [groups] under group norm; read only when Config::kHasWeight
  const void* bias;    // like weight; read only when Config::kHasBias
  void* y;             // like x, or in FP8
  long long rows;
  long long x_row_stride, y_row_stride;
  float* descale;  // of a y in FP8, written
  long long descale_row_stride, descale_column_stride;
  float eps;
  int reserved;
};
static_assert(sizeof(RowNormParams) == 88, "host and device disagree about RowNormParams");

// Of layer_norm_* with Config::kMoments. The others take the first part alone, as if there were no second.
struct SavingNormParams : RowNormParams {
  float* moments;  // [rows, 2]: mean and sum of squared deviations of each row, written
};
static_assert(sizeof(SavingNormParams) == 96, "host and device disagree about SavingNormParams");

}  // namespace hstu
