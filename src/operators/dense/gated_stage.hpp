// What the output stages of a layer in one product share: operands but for w, their checks, and the rows that are
// multiplied by w: [u | attn | g], g normalised by given statistics.
#pragma once

#include "operators/checks.hpp"
#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <vector>

namespace hstujit::gated_stage {

/// Of the args struct, in place.
struct Operands {
  hstu_tensor &attn, &u, &moments, &weight, &bias, &residual, &out;
  double& eps;
};
template <class Args>
Operands operands_of(Args& a) {
  return {a.attn, a.u, a.moments, a.weight, a.bias, a.residual, a.out, a.eps};
}

/// What is left to know once they are checked.
struct Stage {
  checks::Tensor attn, weight, out;
  int64_t k = 0;  ///< 3 dim, of w
  bool residual = false;
  int32_t vector = 0;  ///< elements an access, of all but moments
};
Stage check(const Operands& operands);

/// Bytes of all but w.
double bytes_of(const hstu_tensor& attn, const hstu_tensor& moments, const hstu_tensor& weight,
                const hstu_tensor& residual, const hstu_tensor& out);

void make_edge_case(const Operands& operands);

}  // namespace hstujit::gated_stage

namespace hstujit::reference {

/// What a row of attn is normalised by.
struct RowStatistics {
  double mean = 0, scale = 0;
};

class GatedRows {
 public:
  template <class Args>
  explicit GatedRows(const Args& args) : GatedRows(args.attn, args.u, args.moments, args.weight, args.bias, args.eps) {}

  RowStatistics statistics(int64_t row) const;
  /// [u | attn | g] of a row, g as it is before it is rounded.
  void make(int64_t row, double* out) const;

 private:
  GatedRows(const hstu_tensor& attn, const hstu_tensor& u, const hstu_tensor& moments, const hstu_tensor& weight,
            const hstu_tensor& bias, double eps);

  const hstu_tensor &attn_, &u_, &moments_;
  const int64_t dim_;
  const std::vector<double> weight_, bias_;
  const double eps_;
};

}  // namespace hstujit::reference
