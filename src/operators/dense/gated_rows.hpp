// What the output stages of a layer in one product multiply: rows [u | attn | g], g normalised by given statistics.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>
#include <vector>

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
            const hstu_tensor& bias, float eps);

  const hstu_tensor &attn_, &u_, &moments_;
  const int64_t dim_;
  const std::vector<double> weight_, bias_;
  const double eps_;
};

}  // namespace hstujit::reference
