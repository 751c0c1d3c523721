// What the reference products share: operands as doubles, and a blocked product.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>
#include <functional>
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

}  // namespace hstujit::reference
