// What the shapes of results are made of, in C++; hstujit/torch/shapes.py has the same in Python.
#pragma once

#include "argument.hpp"

namespace hstujit_torch {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Rows of a matrix, or of a batch of matrices.
inline int64_t rows(const Argument& t) {
  int64_t product = 1;
  for (int i = 0; i + 1 < t.rank(); ++i) product *= t.size(i);
  return product;
}

/// The shape of t with another last, or another first, extent.
inline Shape with_last(const Argument& t, int64_t last) {
  Shape shape = t.shape();
  shape.extents[shape.rank - 1] = last;
  return shape;
}
inline Shape with_first(const Argument& t, int64_t first) {
  Shape shape = t.shape();
  shape.extents[0] = first;
  return shape;
}

/// Of the descales of a matrix quantised with this hstu_fp8_scaling.
inline Shape fp8_units(int64_t scaling, int64_t rows, int64_t columns) {
  switch (scaling) {
    case HSTU_FP8_ROW:
      return {rows};
    case HSTU_FP8_GROUP:
      return {rows, ceil_div(columns, 128)};
    case HSTU_FP8_BLOCK:
      return {ceil_div(rows, 128), ceil_div(columns, 128)};
    default:
      return {1};
  }
}

/// How many segments of dim columns hstu_norm_mul writes.
inline int64_t norm_mul_segments(bool concat_u, bool concat_x, int64_t num_groups) {
  if (num_groups == 0) return 1 + concat_u + concat_x;
  return concat_u && concat_x ? 3 : 1;
}

/// Of hstu_concat_2d_jagged's result: a matrix, whatever the parts are.
inline Shape concat_2d_shape(const Argument& left, const Argument& right, bool is_replace) {
  return {rows(left) + (is_replace ? 0 : rows(right)), left.size(-1)};
}

/// Of the log-sum-exp of softmax attention: [heads, total] of jagged q, [batch, heads, queries] of dense q.
inline Shape flash_lse(const Argument& q) {
  if (q.rank() == 3) return {q.size(1), q.size(0)};
  return {q.size(0), q.size(1), q.size(2)};
}

}  // namespace hstujit_torch
