// The relative bias of positions and times.
#include "problem/attention/rel_bias.hpp"

#include "problem/operators.hpp"
#include "reference/rows.hpp"
#include "support/element.hpp"

#include <algorithm>
#include <vector>

namespace hstujit::reference {
namespace {

/// A head's row of a table with one row or a row a head.
std::vector<double> row_of(const hstu_tensor& table, int64_t head) {
  std::vector<double> row(static_cast<size_t>(table.shape[1]));
  load(table, (table.shape[0] == 1 ? 0 : head) * table.stride[0], table.shape[1], row.data());
  return row;
}

/// How far apart timestamps lie: up to 2^64, more than signed integers reach.
float age_of(int64_t a, int64_t b) {
  return static_cast<float>(static_cast<uint64_t>(std::max(a, b)) - static_cast<uint64_t>(std::min(a, b)));
}

void run_head(const hstu_rel_bias_args& args, double* exact, int64_t b, int64_t head) {
  const int64_t n = args.rab.shape[3];
  const auto* times = static_cast<const int64_t*>(args.timestamps.data) + b * args.timestamps.stride[0];
  const std::vector<double> positions = row_of(args.position_weights, head), ages = row_of(args.time_weights, head);
  const auto last = static_cast<int64_t>(ages.size()) - 1;
  std::vector<double> row(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t next = times[std::min(i + 1, n - 1)];
    for (int64_t j = 0; j < n; ++j) {
      const int64_t bucket = std::min(rel_bias::bucket_of(age_of(next, times[j])), last);
      row[static_cast<size_t>(j)] = positions[static_cast<size_t>(n - 1 + j - i)] + ages[static_cast<size_t>(bucket)];
    }
    if (exact)
      std::copy(row.begin(), row.end(), exact + ((b * args.rab.shape[1] + head) * n + i) * n);
    else
      store(args.rab, b * args.rab.stride[0] + head * args.rab.stride[1] + i * args.rab.stride[2], n, row.data());
  }
}

}  // namespace

void run(const hstu_rel_bias_args& args, double* const* exact) {
  if (exact && !exact[0]) return;
  const int64_t heads = args.rab.shape[1], n = args.rab.shape[3];
  const double operations = static_cast<double>(args.rab.shape[0] * heads) * static_cast<double>(n * n) * 20;
  parallel_for(args.rab.shape[0] * heads, operations,
               [&](int64_t pair) { run_head(args, exact ? exact[0] : nullptr, pair / heads, pair % heads); });
}

}  // namespace hstujit::reference
