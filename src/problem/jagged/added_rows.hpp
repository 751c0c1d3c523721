// What the operators that add rows of tables to the rows of a jagged tensor have in common as problems: positions,
// times, and a dense row a sequence.
#pragma once

#include "problem/jagged/jagged_checks.hpp"

#include <span>

namespace hstujit::added_rows {

/// Indices into Problem::field, the same for all of these operators.
enum : int {
  kDtype,
  kTableDtype,
  kOffsetDtype,
  kTargetDtype /* NONE without targets */,
  kDim,
  kVector,
  kLogarithm /* 0|1: of the age, instead of its square root */,
  kBatch,
  kRows
};
std::span<const FieldInfo> fields();

/// A checked call so far: x, out and the offsets.
class Check {
 public:
  Check(Op op, const char* x_name, hstu_tensor& x, hstu_tensor& out, hstu_tensor& seq_offsets);

  /// A table of rows to add; all tables of a call have one dtype.
  void table(const char* name, hstu_tensor& t, bool may_be_empty);
  void targets(hstu_tensor& num_targets);
  /// An i64 vector of `count` elements, which is `what`.
  void seconds(const char* name, hstu_tensor& t, int64_t count, const char* what);

  int64_t batch() const { return offsets_.t.shape[0] - 1; }
  int64_t rows() const { return x_.t.shape[0]; }
  Problem problem() const;

 private:
  Op op_;
  checks::Tensor x_, out_, offsets_;
  checks::Vector vector_;
  hstu_dtype table_dtype_ = HSTU_DTYPE_NONE, target_dtype_ = HSTU_DTYPE_NONE;
};

/// 1 for 0; throws unless it is finite.
float alpha(float value);

/// Rows of sequences read and written, tables and integers read.
Work work_of(const hstu_tensor& x, const hstu_tensor& seq_offsets, std::initializer_list<const hstu_tensor*> others);

}  // namespace hstujit::added_rows
