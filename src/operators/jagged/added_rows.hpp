// What the operators share that add rows of tables to the rows of a jagged tensor, positions, times or a dense row a
// sequence: the key, checks, cost and reference.
#pragma once

#include "operators/jagged/jagged_checks.hpp"
#include "operators/key_fields.hpp"
#include "operators/operators.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace hstujit {

#define HSTUJIT_ADDED_ROWS_FIELDS(X)                                                \
  X(kDtype, dtype, dtype)                                                           \
  X(kTableDtype, table_dtype, dtype)                                                \
  X(kOffsetDtype, offset_dtype, dtype)                                              \
  X(kTargetDtype, target_dtype, dtype) /* NONE without targets */                   \
  X(kDim, dim, exact)                                                               \
  X(kVector, vector, exact)                                                         \
  X(kLogarithm, logarithm, exact) /* 0|1: of the age, instead of its square root */ \
  X(kBatch, batch, bucket)                                                          \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(added_rows, HSTUJIT_ADDED_ROWS_FIELDS)

}  // namespace hstujit

namespace hstujit::added_rows {

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
Cost cost_of(const hstu_tensor& x, const hstu_tensor& seq_offsets, std::initializer_list<const hstu_tensor*> others);

}  // namespace hstujit::added_rows

namespace hstujit::reference {

/// A row of a sequence at [begin, end).
struct SequenceRow {
  int64_t sequence, begin, end, row;
  int64_t local() const { return row - begin; }
  int64_t length() const { return end - begin; }
};

/// A table and which of its rows is added.
struct Added {
  const hstu_tensor& table;
  std::function<int64_t(const SequenceRow&)> find;
};

void add_rows(const hstu_tensor& x, const hstu_tensor& out, const hstu_tensor& seq_offsets, double alpha,
              const std::vector<Added>& added, double* const* exact);

/// Rows of a sequence before its targets, fewer than none where these count more than its rows; num_targets may be
/// absent.
int64_t history_of(const SequenceRow& at, const hstu_tensor& num_targets, int32_t interleaved);

/// number, limited to the table's rows.
int64_t limited(int64_t number, const hstu_tensor& table);

}  // namespace hstujit::reference
