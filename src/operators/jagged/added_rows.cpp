#include "operators/jagged/added_rows.hpp"

#include "operators/integers.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::added_rows {
Check::Check(Op op, const char* x_name, hstu_tensor& x, hstu_tensor& out, hstu_tensor& seq_offsets)
    : op_(op),
      x_(checks::required<2>(x_name, x)),
      out_(checks::required<2>("out", out)),
      offsets_(checks::offsets("seq_offsets", seq_offsets)),
      vector_(x.dtype) {
  checks::floating(x_);
  checks::same_dtype(out_, x_);
  checks::extent(out_, 0, x.shape[0], "the rows of x");
  checks::extent(out_, 1, x.shape[1], "the row length of x");
  checks::no_self_overlap(out_);
  checks::disjoint_or_same(out_, x_);
  checks::disjoint(out_, offsets_);
  vector_.tensor(x).tensor(out);
}

void Check::table(const char* name, hstu_tensor& t, bool may_be_empty) {
  const checks::Tensor table = checks::required<2>(name, t);
  checks::floating(table);
  if (table_dtype_ != HSTU_DTYPE_NONE && t.dtype != table_dtype_)
    checks::refuse_dtype(table, "both tables must have one type");
  table_dtype_ = t.dtype;
  checks::extent(table, 1, x_.t.shape[1], "the row length of x");
  if (!may_be_empty && t.shape[0] == 0 && rows() > 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[0] = 0: a table needs a row to add", name);
  checks::field(table, 0);
  checks::disjoint(out_, table);
  vector_.tensor(t);
}

void Check::targets(hstu_tensor& num_targets) {
  if (!checks::given("num_targets", num_targets)) return;
  const checks::Tensor targets = checks::required<1>("num_targets", num_targets);
  checks::integer(targets);
  checks::extent(targets, 0, batch(), "batch = seq_offsets.shape[0] - 1");
  checks::disjoint(out_, targets);
  target_dtype_ = num_targets.dtype;
}

void Check::seconds(const char* name, hstu_tensor& t, int64_t count, const char* what) {
  const checks::Tensor seconds = checks::required<1>(name, t);
  if (t.dtype != HSTU_DTYPE_I64) checks::refuse_dtype(seconds, "seconds are i64");
  checks::extent(seconds, 0, count, what);
  checks::disjoint(out_, seconds);
}

Problem Check::problem() const {
  Problem problem{op_, {}};
  problem[kDtype] = x_.t.dtype;
  problem[kTableDtype] = table_dtype_;
  problem[kOffsetDtype] = offsets_.t.dtype;
  problem[kTargetDtype] = target_dtype_;
  problem[kDim] = checks::field(x_, 1);
  problem[kVector] = vector_.elements();
  problem[kBatch] = bucket(batch());
  problem[kRows] = bucket(rows());
  return problem;
}

float alpha(float value) {
  checks::finite("alpha", value);
  return checks::given_or(value, 1.0f);
}

Cost cost_of(const hstu_tensor& x, const hstu_tensor& seq_offsets, std::initializer_list<const hstu_tensor*> others) {
  const auto rows = static_cast<double>(integer_at(seq_offsets, seq_offsets.shape[0] - 1));
  const double elements = rows * static_cast<double>(x.shape[1]);
  return {.flops = 2 * elements,
          .bytes = 2 * elements * size_of(x.dtype) + bytes_of_all({&seq_offsets}) + bytes_of_all(others)};
}

}  // namespace hstujit::added_rows

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
