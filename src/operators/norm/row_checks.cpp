#include "operators/norm/row_checks.hpp"

#include "operators/fp8/fp8_scales.hpp"
#include "support/error.hpp"

namespace hstujit::checks {

Rows rows(hstu_tensor& x, hstu_tensor& out, bool quantises) {
  const Rows r{required<2>("x", x), required<2>("out", out)};
  floating(r.x);
  const bool quantised = quantises && fp8::stores(out.dtype);
  if (!quantised) same_dtype(r.out, r.x);
  extent(r.out, 0, x.shape[0], "x.shape[0]");
  extent(r.out, 1, x.shape[1], "x.shape[1]");
  no_self_overlap(r.out);
  if (quantised)
    disjoint(r.out, r.x);
  else
    disjoint_or_same(r.out, r.x);
  return r;
}

Tensor quantised(const Tensor& x, const Tensor& out, int64_t rows, int64_t columns, hstu_tensor& descale,
                 const hstu_fp8_scaling& scaling) {
  fp8::check_scaling("scaling", scaling);
  if (!fp8::stores(out.t.dtype)) {
    if (given("descale", descale) || scaling != HSTU_FP8_TENSOR)
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "descale or scaling is there, but {0}.dtype = {1}: they belong to {0} in e4m3 or e5m2; leave both out",
           out.name, name_of(static_cast<hstu_dtype>(out.t.dtype)));
    return {"descale", descale};
  }
  if (scaling != HSTU_FP8_ROW && scaling != HSTU_FP8_GROUP)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "scaling = {}: a norm quantises by ROW (1) or GROUP (2)",
         static_cast<int>(scaling));
  const Tensor checked = fp8::check_descale("descale", descale, scaling, rows, columns);
  no_self_overlap(checked);
  disjoint(checked, x);
  disjoint(checked, out);
  return checked;
}

Tensor weight(const char* name, hstu_tensor& t, int64_t count, const char* what, const Tensor& out) {
  const Tensor w = required<1>(name, t);
  floating(w);
  extent(w, 0, count, what);
  disjoint(out, w);
  return w;
}

bool weight_and_bias(hstu_tensor& w, hstu_tensor& b, int64_t count, const char* what, const Tensor& out) {
  const bool has_weight = given("weight", w), has_bias = given("bias", b);
  if (has_weight != has_bias)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is absent, but {} is there: give both or neither",
         has_weight ? "bias" : "weight", has_weight ? "weight" : "bias");
  if (!has_weight) return false;
  const Tensor checked = weight("weight", w, count, what, out);
  same_dtype(weight("bias", b, count, what, out), checked);
  return true;
}

Tensor part_moments(hstu_tensor& t, int64_t rows, const char* what) {
  const Tensor moments = required<3>("moments", t);
  is_f32(moments);
  extent(moments, 0, rows, what);
  extent(moments, 2, 2, "a mean and a sum of squared deviations");
  if (t.stride[1] != 2 || t.stride[0] % 2 != 0 || t.stride[0] / 2 != t.shape[1])
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.stride = [{}, {}, 1]: it must be contiguous, [2 shape[1], 2, 1] with {}",
         t.stride[0], t.stride[1], t.shape[1]);
  if (reinterpret_cast<uintptr_t>(t.data) % 8 != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.data = {}: it must be aligned to 8 bytes", t.data);
  return moments;
}

}  // namespace hstujit::checks
