// Softmax and log-softmax of rows: facts, checks, key, cost and reference.
#include "operators/norm/softmax.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <limits>

namespace hstujit {
namespace {

using Args = hstu_softmax_args;

constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
                                   {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"log", offsetof(Args, log), ScalarSlot::Kind::i32},
                                   {"zero_empty_rows", offsetof(Args, zero_empty_rows), ScalarSlot::Kind::i32}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {softmax::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.out);
  if (r.dim() == 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "x.shape[1] = 0: it must be positive; only x.shape[0] may be 0, for no rows");
  checks::flag("log", args.log);
  checks::flag("zero_empty_rows", args.zero_empty_rows);
  checks::Vector vector(args.x.dtype);
  vector.tensor(args.x).tensor(args.out);

  Problem problem{Op::softmax, {}};
  problem[softmax::kDtype] = args.x.dtype;
  problem[softmax::kDim] = checks::field(r.x, 1);
  problem[softmax::kLog] = args.log;
  problem[softmax::kZeroEmpty] = args.zero_empty_rows;
  problem[softmax::kVector] = vector.elements();
  problem[softmax::kRows] = bucket(args.x.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  // Maximum; difference, power, counted as one, and sum; scale.
  return {.flops = elements * 5, .bytes = elements * 2 * size_of(args.x.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
}

namespace reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x <- softmax(x); of nothing but -inf NaN, or nothing but weights of 0.
void take_softmax(Row& x, bool log, bool zero_empty) {
  double most = -kInfinity, sum = 0;
  for (const double value : x) most = std::fmax(most, value);
  if (most == -kInfinity && zero_empty && std::none_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) {
    std::fill(x.begin(), x.end(), log ? -kInfinity : 0.0);
    return;
  }
  for (const double value : x) sum += std::exp(value - most);  // -inf less -inf, or inf less inf, is NaN
  for (double& value : x) value = log ? value - most - std::log(sum) : std::exp(value - most) / sum;
}

}  // namespace

void run(const Args& args, double* const* exact) {
  for_rows(args.x, args.out, exact, 30,
           [&](Row& x, int64_t) { take_softmax(x, args.log != 0, args.zero_empty_rows != 0); });
}

}  // namespace reference

}  // namespace hstujit
