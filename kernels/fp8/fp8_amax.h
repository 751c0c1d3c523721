// The arguments of fp8_amax_*: amax, the largest magnitude, of each of 256 parts of a matrix.
#pragma once

namespace hstu {

struct Fp8AmaxParams {
  const void* x;  // [rows, Config::kColumns]
  float* amax;    // [256]
  long long rows;
  long long x_row_stride;
  long long part;  // elements of a part, counted row after row; a multiple of 16
};
static_assert(sizeof(Fp8AmaxParams) == 40, "host and device disagree about Fp8AmaxParams");

}  // namespace hstu
