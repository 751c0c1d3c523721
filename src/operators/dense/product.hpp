// What the references of the products share: operands as doubles, a blocked product, and what stands around it: a bias
// row or residual, an activation, results in parts.
#pragma once

#include "operators/reference.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace hstujit::reference {

/// `count` elements from element `offset` of the tensor's data, `stride` apart.
void load_strided(const hstu_tensor& t, int64_t offset, int64_t stride, int64_t count, double* out);

/// A matrix of any strides as row-major doubles.
std::vector<double> load_matrix(const hstu_tensor& t);

/// A block of results: `rows` rows by `columns` columns.
struct Block {
  int64_t row, rows, column, columns;
};

/// Calls body for the blocks that make up m x n results of k terms each, on several threads.
void for_each_block(int64_t m, int64_t n, int64_t k, const std::function<void(const Block&)>& body);

/// sums += x w: x [block.rows, k] rows of the block, w [k, n] whole, sums [block.rows, block.columns].
void add_product(const double* x, const double* w, int64_t k, int64_t n, const Block& block, double* sums);

/// Fills the block's sums with what is added to them: a bias [n] and a residual [m, n], each absent or of any strides.
void load_added(const hstu_tensor& bias, const hstu_tensor& residual, const Block& block, double* sums);

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
