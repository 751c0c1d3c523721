// The arguments of quantize_fp8_*: q = round(x / descale), descale = amax of a unit / largest FP8 value.
#pragma once

namespace hstu {

struct QuantizeFp8Params {
  const void* x;                // [rows, Config::kColumns]
  void* q;                      // the same
  float* descale;               // one a unit
  const float* amax;            // [256], read only when Config::kScaling is kPerTensor and not Config::kStatic
  const float* static_descale;  // [1], read only when Config::kStatic
  long long rows;
  long long x_row_stride, q_row_stride;
  long long descale_row_stride, descale_column_stride;
  float amin;        // amax counts as this at least
  float amax_bound;  // amax counts as this at most
};
static_assert(sizeof(QuantizeFp8Params) == 88, "host and device disagree about QuantizeFp8Params");

}  // namespace hstu
