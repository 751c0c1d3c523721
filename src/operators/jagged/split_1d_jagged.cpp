// Splitting a jagged vector in two: facts, checks, key, cost and reference.
#include "operators/integers.hpp"
#include "operators/jagged/jagged_copy.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"

namespace hstujit {
namespace {

using Args = hstu_split_1d_jagged_args;

constexpr TensorSlot kTensors[] = {
    {"lengths_left", offsetof(Args, lengths_left), TensorRole::integer, of_rank(1, kIntegers)},
    {"lengths_right", offsetof(Args, lengths_right), TensorRole::integer, of_rank(1, kIntegers)},
    {"values", offsetof(Args, values), TensorRole::input, of_rank(1, kCopied)},
    {"left", offsetof(Args, left), TensorRole::output, of_rank(1, kCopied)},
    {"right", offsetof(Args, right), TensorRole::output, of_rank(1, kCopied)}};
enum : size_t { kLengthsLeft = 0, kLengthsRight = 1 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor lengths_left = jagged_lengths::lengths("lengths_left", args.lengths_left);
  const checks::Tensor lengths_right = jagged_lengths::lengths("lengths_right", args.lengths_right);
  jagged_lengths::same_batch(lengths_right, lengths_left);
  const checks::Tensor values = checks::required<1>("values", args.values);
  const checks::Tensor left = checks::required<1>("left", args.left), right = checks::required<1>("right", args.right);
  checks::same_dtype(left, values);
  checks::same_dtype(right, values);
  checks::extent(values, 0, jagged_lengths::added(left, right), "the elements of left and right");
  jagged_lengths::separate({&left, &right}, {&values, &lengths_left, &lengths_right});
  return jagged_lengths::problem(Op::split_1d_jagged, {}, values, args.lengths_left, args.lengths_right.dtype,
                                 HSTU_DTYPE_NONE);
}

Cost cost_of(const Args& args) {
  return jagged_lengths::cost_of(args.values, {&args.lengths_left, &args.lengths_right});
}

void make_edge_case(Args& args, Integers& integers) {
  args.left.shape[0] = jagged_lengths::make_ragged(integers[kLengthsLeft]);
  args.right.shape[0] = jagged_lengths::make_ragged(integers[kLengthsRight]);
  args.values.shape[0] = args.left.shape[0] + args.right.shape[0];
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const PartOffsets offsets{sum_lengths("lengths_left", args.lengths_left, args.left.shape[0]),
                            sum_lengths("lengths_right", args.lengths_right, args.right.shape[0])};
  const RowCopies left(args.left, exact, 0), right(args.right, exact, 1);
  for_each_combined_row(offsets, 0, [&](int64_t combined, bool to_right, int64_t row) {
    (to_right ? right : left).copy(row, args.values, combined, 1);
  });
}

}  // namespace reference

}  // namespace hstujit
