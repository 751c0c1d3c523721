// What stands around a reference product: a bias row or residual, an activation, results in parts.
#pragma once

#include "operators/dense/product.hpp"
#include "operators/rows.hpp"

#include <initializer_list>
#include <vector>

namespace hstujit::reference {

/// Fills the block's sums with what is added to them: zeros, a bias row ([n]) or a residual ([m, n]), any strides.
void load_added(const hstu_tensor& bias, const Block& block, double* sums);

/// The activation and the tensors that the columns of a result go to, in their order; absent ones have none.
class ProductResults {
 public:
  ProductResults(std::initializer_list<const hstu_tensor*> parts, hstu_activation activation,
                 int64_t activation_columns, double* const* exact);
  /// The same in FP8, if the parts are; the descale is absent if not.
  ProductResults(std::initializer_list<const hstu_tensor*> parts, const hstu_tensor& descale,
                 hstu_activation activation, int64_t activation_columns, double* const* exact);

  /// Activates the block's sums and writes them.
  void write(const Block& block, double* sums) const;

 private:
  struct Part {
    int64_t begin, end;
    Output output;
  };
  std::vector<Part> parts_;
  hstu_activation activation_;
  int64_t activation_columns_;
  float multiplier_ = 1;  ///< of results in FP8
  double largest_ = 0;    ///< of FP8's; 0 for other types
};

}  // namespace hstujit::reference
