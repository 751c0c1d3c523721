// Parameters of rms_norm_rope_*.
#pragma once

namespace hstu {

struct RmsNormRopeParams {
  const void* x;       // [batch, length, kDim]
  const void* weight;  // [kDim]
  const void* cosine;  // [length, at least half a head], Config::Angle
  const void* sine;    // like cosine
  void* y;             // like x
  long long rows;      // batch * length
  long long length;
  long long x_batch_stride, x_row_stride;
  long long y_batch_stride, y_row_stride;
  long long cosine_row_stride, sine_row_stride;
  float eps;
  int reserved;
};
static_assert(sizeof(RmsNormRopeParams) == 112, "host and device disagree about RmsNormRopeParams");

}  // namespace hstu
