// Parameters of rms_norm_rope_*.
#pragma once

namespace hstu {

struct RmsNormRopeParams {
  const void* x;       // [batch, length, kDim]
  const void* weight;  // [kDim]
  const void* cosine;  // [length, at least half a head], Config::Angle
  const void* sine;    // like cosine
  void* y;             // like x, or in FP8
  long long rows;      // batch * length
  long long length;
  long long x_batch_stride, x_row_stride;
  long long y_batch_stride, y_row_stride;
  long long cosine_row_stride, sine_row_stride;
  float eps;
  int reserved;
  float* descale;  // of a y in FP8, written; of row batch * length + position
  long long descale_row_stride, descale_column_stride;
};
static_assert(sizeof(RmsNormRopeParams) == 136, "host and device disagree about RmsNormRopeParams");

}  // namespace hstu
