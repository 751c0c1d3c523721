#include "operators/fp8/fp8_scales.hpp"

#include "support/error.hpp"

#include <algorithm>

namespace hstujit::fp8 {

Unit unit_of(hstu_fp8_scaling scaling, int64_t rows, int64_t columns) {
  switch (scaling) {
    case HSTU_FP8_TENSOR:
      return {std::max<int64_t>(rows, 1), std::max<int64_t>(columns, 1)};
    case HSTU_FP8_ROW:
      return {1, std::max<int64_t>(columns, 1)};
    case HSTU_FP8_GROUP:
      return {1, kSpan};
    case HSTU_FP8_BLOCK:
      return {kSpan, kSpan};
  }
  return {1, 1};
}

void check_scaling(const char* name, const hstu_fp8_scaling& scaling) {
  check_scaling(name, int64_t{checks::code(scaling)});
}

void check_scaling(const char* name, int64_t value) {
  if (value < HSTU_FP8_TENSOR || value > HSTU_FP8_BLOCK)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: use TENSOR (0), ROW (1), GROUP (2) or BLOCK (3)", name, value);
}

void is_fp8(const checks::Tensor& a) {
  if (a.t.dtype != HSTU_DTYPE_E4M3 && a.t.dtype != HSTU_DTYPE_E5M2) checks::refuse_dtype(a, "use e4m3 or e5m2");
}

checks::Tensor check_descale(const char* name, hstu_tensor& t, hstu_fp8_scaling scaling, int64_t rows,
                             int64_t columns) {
  const bool matrix = scaling == HSTU_FP8_GROUP || scaling == HSTU_FP8_BLOCK;
  const checks::Tensor descale = matrix ? checks::required_any_strides<2>(name, t) : checks::required<1>(name, t);
  checks::is_f32(descale);
  const Unit unit = unit_of(scaling, rows, columns);
  const char* const units = scaling == HSTU_FP8_BLOCK ? "ceil(rows / 128)" : "the number of rows";
  if (scaling == HSTU_FP8_TENSOR)
    checks::extent(descale, 0, 1, "1, one scale for the tensor");
  else
    checks::extent(descale, 0, ceil_div(rows, unit.rows), units);
  if (matrix) checks::extent(descale, 1, ceil_div(columns, unit.columns), "ceil(columns / 128)");
  return descale;
}

int32_t vector_of(const hstu_tensor& x, const hstu_tensor& q) {
  return checks::Vector(x.dtype == HSTU_DTYPE_F32 ? 8 : 16).tensor(x).tensor(q).elements();
}

int32_t bytes_an_access(const hstu_tensor& t) {
  return checks::Vector(16).tensor(t).lines(t.shape[0], t.stride[0], t.shape[1]).elements();
}

void shorten_descale(hstu_tensor& t, hstu_fp8_scaling scaling, int64_t rows) {
  if (scaling != HSTU_FP8_TENSOR) t.shape[0] = ceil_div(rows, unit_of(scaling, rows, 1).rows);
}

int64_t row_stride(const hstu_tensor& descale, hstu_fp8_scaling scaling) {
  return scaling == HSTU_FP8_TENSOR ? 0 : descale.stride[0];
}
int64_t column_stride(const hstu_tensor& descale, hstu_fp8_scaling scaling) {
  return scaling == HSTU_FP8_GROUP || scaling == HSTU_FP8_BLOCK ? descale.stride[1] : 0;
}

double descale_bytes(const hstu_tensor& descale) {
  double count = 1;
  for (int d = 0; d < descale.rank; ++d) count *= static_cast<double>(descale.shape[d]);
  return 4 * count;
}

}  // namespace hstujit::fp8
