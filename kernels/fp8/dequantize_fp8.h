// The arguments of dequantize_fp8_*: x = q descale.
#pragma once

namespace hstu {

struct DequantizeFp8Params {
  const void* q;         // [rows, Config::kColumns]
  const float* descale;  // one a unit
  void* x;               // [rows, Config::kColumns]
  long long rows;
  long long q_row_stride, x_row_stride;
  long long descale_row_stride, descale_column_stride;
};
static_assert(sizeof(DequantizeFp8Params) == 64, "host and device disagree about DequantizeFp8Params");

}  // namespace hstu
