#include "problem/row_checks.hpp"

#include "problem/operators.hpp"
#include "support/error.hpp"

namespace hstujit::checks {

Rows rows(hstu_tensor& x, hstu_tensor& y) {
  const Rows r{required<2>("x", x), required<2>("y", y)};
  floating(r.x);
  same_dtype(r.y, r.x);
  extent(r.y, 0, x.shape[0], "x.shape[0]");
  extent(r.y, 1, x.shape[1], "x.shape[1]");
  no_self_overlap(r.y);
  disjoint_or_same(r.y, r.x);
  return r;
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

}  // namespace hstujit::checks
