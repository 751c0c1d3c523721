#include "reference/jagged/added_rows.hpp"

#include "problem/targets.hpp"
#include "reference/integers.hpp"
#include "reference/rows.hpp"

#include <algorithm>

namespace hstujit::reference {

void add_rows(const hstu_tensor& x, const hstu_tensor& out, const hstu_tensor& seq_offsets, double alpha,
              const std::vector<Added>& added, double* const* exact) {
  const int64_t dim = x.shape[1];
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", seq_offsets, x.shape[0]);
  const Output output(out, exact);
  const double operations = 10.0 * static_cast<double>(offsets.back()) * static_cast<double>(dim);
  parallel_for(static_cast<int64_t>(offsets.size()) - 1, operations, [&](int64_t b) {
    SequenceRow at{b, offsets[static_cast<size_t>(b)], offsets[static_cast<size_t>(b) + 1], 0};
    std::vector<double> row(static_cast<size_t>(dim)), more(static_cast<size_t>(dim));
    for (at.row = at.begin; at.row < at.end; ++at.row) {
      load(x, at.row * x.stride[0], dim, row.data());
      for (double& value : row) value *= alpha;
      for (const Added& part : added) {
        load(part.table, part.find(at) * part.table.stride[0], dim, more.data());
        for (size_t i = 0; i < row.size(); ++i) row[i] += more[i];
      }
      output.write(at.row, 0, dim, row.data());
    }
  });
}

int64_t history_of(const SequenceRow& at, const hstu_tensor& num_targets, int32_t interleaved) {
  return at.length() - targets_of(num_targets, at.sequence, at.length()) * (interleaved ? 2 : 1);
}

int64_t limited(int64_t number, const hstu_tensor& table) {
  return std::max<int64_t>(std::min(number, table.shape[0] - 1), 0);
}

}  // namespace hstujit::reference
