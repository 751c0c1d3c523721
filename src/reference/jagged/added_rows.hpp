// alpha * x + rows of tables, for the references of positions, times and broadcast rows.
#pragma once

#include "problem/operators.hpp"

#include <cstdint>
#include <functional>
#include <vector>

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
