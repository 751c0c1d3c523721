// The relative bias of positions and times: facts, checks, key, cost and reference.

#include "operators/attention/rel_bias.hpp"

#include "operators/checks.hpp"
#include "operators/edge_case.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_rel_bias_args;

constexpr TensorSlot kTensors[] = {
    {"timestamps", offsetof(Args, timestamps), TensorRole::integer, of_rank(2, kI64)},
    {"position_weights", offsetof(Args, position_weights), TensorRole::input, of_rank(2, kFloating)},
    {"time_weights", offsetof(Args, time_weights), TensorRole::input, of_rank(2, kFloating)},
    {"rab", offsetof(Args, rab), TensorRole::output, of_rank(4, kFloating)}};

/// Kernels count the pieces of a head's matrix in 32 bits; such a matrix of 16-bit elements has 34 GB.
constexpr int64_t kMostPositions = int64_t{1} << 17;

void check_table(const checks::Tensor& table, const checks::Tensor& rab) {
  checks::floating(table);
  if (table.t.shape[0] != 1) checks::extent(table, 0, rab.t.shape[1], "1 or num_heads = rab.shape[1]");
  checks::disjoint(rab, table);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {rel_bias::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor rab = checks::required<4>("rab", args.rab);
  const int64_t n = args.rab.shape[3];
  checks::floating(rab);
  checks::no_self_overlap(rab);
  checks::extent(rab, 2, n, "the positions rab.shape[3]");
  if (n > kMostPositions)
    fail(HSTU_ERROR_UNSUPPORTED, "rab.shape[3] = {}: rel_bias covers up to {} positions", n, kMostPositions);
  const checks::Tensor times = checks::required<2>("timestamps", args.timestamps);
  if (args.timestamps.dtype != HSTU_DTYPE_I64) checks::refuse_dtype(times, "it must be i64");
  checks::extent(times, 0, args.rab.shape[0], "batch = rab.shape[0]");
  checks::extent(times, 1, n, "the positions rab.shape[3]");
  checks::disjoint(rab, times);
  const checks::Tensor positions = checks::required<2>("position_weights", args.position_weights);
  check_table(positions, rab);
  checks::extent(positions, 1, std::max<int64_t>(2 * n - 1, 0), "2 n - 1 for n = rab.shape[3]");
  const checks::Tensor ages = checks::required<2>("time_weights", args.time_weights);
  checks::same_dtype(ages, positions);
  check_table(ages, rab);
  if (args.time_weights.shape[1] == 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "time_weights.shape[1] = 0: it must be at least 1, for bucket 0");
  checks::field(rab, 0);

  Problem problem{Op::rel_bias, {}};
  problem[rel_bias::kDtype] = args.rab.dtype;
  problem[rel_bias::kTableDtype] = args.position_weights.dtype;
  problem[rel_bias::kNumHeads] = checks::field(rab, 1);
  problem[rel_bias::kVector] = checks::Vector(args.rab.dtype).tensor(args.rab).elements();
  problem[rel_bias::kBatch] = bucket(args.rab.shape[0]);
  problem[rel_bias::kPositions] = bucket(n);
  return problem;
}

Cost cost_of(const Args& args) {
  double elements = 1;
  for (int d = 0; d < args.rab.rank; ++d) elements *= static_cast<double>(args.rab.shape[d]);
  return {.flops = elements,
          .bytes = elements * size_of(args.rab.dtype) +
                   bytes_of_all({&args.timestamps, &args.position_weights, &args.time_weights})};
}

void make_edge_case(Args& args, Integers&) {
  const int64_t batch = edge_case::ragged(args.rab.shape[0]);
  args.rab.shape[0] = args.timestamps.shape[0] = batch;
}

namespace reference {
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

void run_head(const Args& args, double* exact, int64_t b, int64_t head) {
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

void run(const Args& args, double* const* exact) {
  if (exact && !exact[0]) return;
  const int64_t heads = args.rab.shape[1], n = args.rab.shape[3];
  const double operations = static_cast<double>(args.rab.shape[0] * heads) * static_cast<double>(n * n) * 20;
  parallel_for(args.rab.shape[0] * heads, operations,
               [&](int64_t pair) { run_head(args, exact ? exact[0] : nullptr, pair / heads, pair % heads); });
}

}  // namespace reference

}  // namespace hstujit
