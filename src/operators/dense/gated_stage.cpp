#include "operators/dense/gated_stage.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::gated_stage {
namespace {

checks::Tensor check_out(const Operands& o, const checks::Tensor& attn, const checks::Tensor& u) {
  const checks::Tensor out = checks::required<2>("out", o.out);
  checks::same_dtype(out, attn);
  checks::extent(out, 0, attn.t.shape[0], "m = attn.shape[0]");
  checks::no_self_overlap(out);
  checks::disjoint(out, attn);
  checks::disjoint(out, u);
  return out;
}

void check_moments(const Operands& o, const checks::Tensor& attn, const checks::Tensor& out) {
  const checks::Tensor moments = checks::part_moments(o.moments, attn.t.shape[0], "m = attn.shape[0]");
  const int64_t parts = moments.t.shape[1];
  if (parts < 1 || attn.t.shape[1] % parts != 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "moments.shape[1] = {}: it must divide dim = attn.shape[1] = {}", parts,
         attn.t.shape[1]);
  checks::disjoint(out, moments);
}

int64_t columns_of(const checks::Tensor& attn) {
  int64_t columns = 0;
  if (__builtin_mul_overflow(attn.t.shape[1], 3, &columns))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "attn.shape[1] = {}: three times as many overflow 64 bits", attn.t.shape[1]);
  return columns;
}

/// True where there is one.
bool check_residual(const Operands& o, const checks::Tensor& out) {
  if (!checks::given("residual", o.residual)) return false;
  const checks::Tensor residual = checks::required<2>("residual", o.residual);
  checks::same_dtype(residual, out);
  checks::extent(residual, 0, out.t.shape[0], "m = attn.shape[0]");
  checks::extent(residual, 1, out.t.shape[1], "n = out.shape[1]");
  checks::disjoint_or_same(out, residual);
  return true;
}

}  // namespace

Stage check(const Operands& o) {
  const checks::Tensor attn = checks::required<2>("attn", o.attn), u = checks::required<2>("u", o.u);
  checks::floating(attn);
  checks::same_dtype(u, attn);
  checks::extent(u, 0, attn.t.shape[0], "m = attn.shape[0]");
  checks::extent(u, 1, attn.t.shape[1], "dim = attn.shape[1]");
  const checks::Tensor out = check_out(o, attn, u);
  check_moments(o, attn, out);
  const checks::Tensor weight = checks::weight("weight", o.weight, attn.t.shape[1], "dim = attn.shape[1]", out);
  const checks::Tensor bias = checks::weight("bias", o.bias, attn.t.shape[1], "dim = attn.shape[1]", out);
  checks::same_dtype(bias, weight);
  const int64_t k = columns_of(attn);
  const bool residual = check_residual(o, out);
  o.eps = checks::eps(o.eps);

  checks::Vector vector(attn.t.dtype);
  vector.address(o.weight).address(o.bias);
  for (const hstu_tensor* t : {&o.attn, &o.u, &o.out, &o.residual})
    if (present(*t)) vector.tensor(*t).lines(t->shape[0], t->stride[0], t->shape[1]);
  return {attn, weight, out, k, residual, vector.elements()};
}

double bytes_of(const hstu_tensor& attn, const hstu_tensor& moments, const hstu_tensor& weight,
                const hstu_tensor& residual, const hstu_tensor& out) {
  const double m = static_cast<double>(attn.shape[0]), dim = static_cast<double>(attn.shape[1]);
  const double n = static_cast<double>(out.shape[1]), rows = present(residual) ? 2 * m : m;
  return (2 * m * dim + rows * n) * size_of(attn.dtype) + 8 * m * static_cast<double>(moments.shape[1]) +
         2 * dim * size_of(weight.dtype);
}

void make_edge_case(const Operands& o) {
  edge_case::shorten_rows(edge_case::ragged(o.attn.shape[0]), {&o.attn, &o.u, &o.moments, &o.residual, &o.out});
}

}  // namespace hstujit::gated_stage

namespace hstujit::reference {

GatedRows::GatedRows(const hstu_tensor& attn, const hstu_tensor& u, const hstu_tensor& moments,
                     const hstu_tensor& weight, const hstu_tensor& bias, double eps)
    : attn_(attn),
      u_(u),
      moments_(moments),
      dim_(attn.shape[1]),
      weight_(load_vector(weight, dim_, 1)),
      bias_(load_vector(bias, dim_, 0)),
      eps_(eps) {}

RowStatistics GatedRows::statistics(int64_t row) const {
  const int64_t parts = moments_.shape[1], columns = dim_ / parts;  // of each
  std::vector<double> moments(static_cast<size_t>(2 * parts));
  load(moments_, row * moments_.stride[0], 2 * parts, moments.data());
  RowStatistics out;
  for (size_t i = 0; i < moments.size(); i += 2) out.mean += moments[i] / static_cast<double>(parts);
  double squares = 0;
  for (size_t i = 0; i < moments.size(); i += 2) {
    const double shift = moments[i] - out.mean;
    squares += moments[i + 1] + shift * shift * static_cast<double>(columns);
  }
  squares = std::max(squares, 0.0);  // of random numbers, as tuning has them, they may be negative
  out.scale = 1 / std::sqrt(squares / static_cast<double>(dim_) + eps_);
  return out;
}

void GatedRows::make(int64_t row, double* out) const {
  double *const u = out, *const attn = out + dim_, *const g = attn + dim_;
  load(u_, row * u_.stride[0], dim_, u);
  load(attn_, row * attn_.stride[0], dim_, attn);
  const RowStatistics s = statistics(row);
  for (int64_t i = 0; i < dim_; ++i) {
    const auto at = static_cast<size_t>(i);
    g[i] = ((attn[i] - s.mean) * s.scale * weight_[at] + bias_[at]) * u[i];
  }
}

}  // namespace hstujit::reference
