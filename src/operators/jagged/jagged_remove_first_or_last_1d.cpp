// Sequences without their first or their last element: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_jagged_remove_first_or_last_1d_args;

constexpr TensorSlot kTensors[] = {
    {"lengths", offsetof(Args, lengths), TensorRole::integer, of_rank(1, kIntegers)},
    {"values", offsetof(Args, values), TensorRole::input, of_rank(1, kCopied)},
    {"without_first", offsetof(Args, without_first), TensorRole::output, of_rank(1, kCopied)},
    {"without_last", offsetof(Args, without_last), TensorRole::output, of_rank(1, kCopied)}};
enum : size_t { kLengths = 0 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor lengths = jagged_lengths::lengths("lengths", args.lengths);
  const checks::Tensor values = checks::required<1>("values", args.values);
  const checks::Tensor without_first = checks::required<1>("without_first", args.without_first);
  const checks::Tensor without_last = checks::required<1>("without_last", args.without_last);
  for (const checks::Tensor* out : {&without_first, &without_last}) {
    checks::same_dtype(*out, values);
    checks::extent(*out, 0, args.values.shape[0] - args.lengths.shape[0],
                   "values.shape[0] - lengths.shape[0]: every sequence has an element, and loses one");
  }
  jagged_lengths::separate({&without_first, &without_last}, {&values, &lengths});
  return jagged_lengths::problem(Op::jagged_remove_first_or_last_1d, {}, values, args.lengths, HSTU_DTYPE_NONE,
                                 HSTU_DTYPE_NONE);
}

Cost cost_of(const Args& args) {
  Cost cost = jagged_lengths::cost_of(args.values, {&args.lengths});  // values read and written once
  cost.bytes +=
      2 * static_cast<double>(extent_bytes(args.without_first)) - static_cast<double>(extent_bytes(args.values));
  return cost;
}

void make_edge_case(Args& args, Integers& integers) {
  std::vector<int64_t>& lengths = integers[kLengths];
  int64_t sum = 0;
  for (size_t b = 0; b < lengths.size(); ++b) {
    lengths[b] = std::max<int64_t>(edge_case::ragged_length(b, lengths.size(), lengths[b]), 1);
    sum += lengths[b];
  }
  args.values.shape[0] = sum;
  args.without_first.shape[0] = args.without_last.shape[0] = sum - args.lengths.shape[0];
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = sum_lengths("lengths", args.lengths, args.values.shape[0], 1);
  const RowCopies without_first(args.without_first, exact, 0), without_last(args.without_last, exact, 1);
  for (int64_t b = 0; b < args.lengths.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], kept = offsets[static_cast<size_t>(b) + 1] - begin - 1;
    for (int64_t i = 0; i < kept; ++i) {
      without_first.copy(begin - b + i, args.values, begin + i + 1, 1);
      without_last.copy(begin - b + i, args.values, begin + i, 1);
    }
  }
}

}  // namespace reference

}  // namespace hstujit
