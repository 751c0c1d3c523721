#include "operators/dense/gated_rows.hpp"

#include "operators/rows.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::reference {

GatedRows::GatedRows(const hstu_tensor& attn, const hstu_tensor& u, const hstu_tensor& moments,
                     const hstu_tensor& weight, const hstu_tensor& bias, float eps)
    : attn_(attn),
      u_(u),
      moments_(moments),
      dim_(attn.shape[1]),
      weight_(load_vector(weight, dim_, 1)),
      bias_(load_vector(bias, dim_, 0)),
      eps_(static_cast<double>(eps)) {}

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
