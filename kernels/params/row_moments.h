// Parameters of row_moments_*.
#pragma once

namespace hstu {

struct RowMomentsParams {
  const void* x;   // [rows, kGroups * kDim]
  float* moments;  // [rows, kGroups, 2]: mean and sum of squared deviations
  long long rows;
  long long x_row_stride;
};
static_assert(sizeof(RowMomentsParams) == 32, "host and device disagree about RowMomentsParams");

}  // namespace hstu
