// Replacement of the last rows of sequences: facts, checks, key, cost and reference.
#include "operators/integers.hpp"
#include "operators/jagged/jagged_copy.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"

namespace hstujit {
namespace {

using Args = hstu_replace_last_n_with_jagged_args;

constexpr TensorSlot kTensors[] = {
    {"lengths_left", offsetof(Args, lengths_left), TensorRole::integer, of_rank(1, kIntegers)},
    {"left", offsetof(Args, left), TensorRole::input, of_rank(2, kCopied)},
    {"lengths_right", offsetof(Args, lengths_right), TensorRole::integer, of_rank(1, kIntegers)},
    {"right", offsetof(Args, right), TensorRole::input, of_rank(2, kCopied)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kCopied)}};
enum : size_t { kLengthsLeft = 0, kLengthsRight = 2 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor lengths_left = jagged_lengths::lengths("lengths_left", args.lengths_left);
  const checks::Tensor lengths_right = jagged_lengths::lengths("lengths_right", args.lengths_right);
  jagged_lengths::same_batch(lengths_right, lengths_left);
  const checks::Tensor left = checks::required<2>("left", args.left), right = checks::required<2>("right", args.right);
  const checks::Tensor out = checks::required<2>("out", args.out);
  checks::same_dtype(right, left);
  checks::same_dtype(out, left);
  checks::extent(right, 1, left.t.shape[1], "the row length of left");
  checks::extent(out, 0, left.t.shape[0], "the rows of left");
  checks::extent(out, 1, left.t.shape[1], "the row length of left");
  jagged_lengths::separate({&out}, {&left, &right, &lengths_left, &lengths_right});
  return jagged_lengths::problem(Op::replace_last_n_with_jagged, {&left, &right, &out}, out, args.lengths_left,
                                 args.lengths_right.dtype, HSTU_DTYPE_NONE);
}

Cost cost_of(const Args& args) { return jagged_lengths::cost_of(args.out, {&args.lengths_left, &args.lengths_right}); }

void make_edge_case(Args& args, Integers& integers) {
  args.left.shape[0] = args.out.shape[0] = jagged_lengths::make_ragged(integers[kLengthsLeft]);
  args.right.shape[0] = jagged_lengths::make_ragged(integers[kLengthsRight]);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const PartOffsets offsets{sum_lengths("lengths_left", args.lengths_left, args.left.shape[0]),
                            sum_lengths("lengths_right", args.lengths_right, args.right.shape[0])};
  replace_last_rows(offsets, args.left, args.right, args.left.shape[1], RowCopies(args.out, exact));
}

}  // namespace reference

}  // namespace hstujit
