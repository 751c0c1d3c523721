// Splitting a jagged tensor in two: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/jagged/jagged_copy.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_split_2d_jagged_args;

constexpr TensorSlot kTensors[] = {
    {"values", offsetof(Args, values), TensorRole::input, of_rank(2, kCopied)},
    {"left", offsetof(Args, left), TensorRole::output, of_rank(2, kCopied).or_rank(3)},
    {"right", offsetof(Args, right), TensorRole::output, of_rank(2, kCopied).or_rank(3)},
    {"offsets_left", offsetof(Args, offsets_left), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"offsets_right", offsetof(Args, offsets_right), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr ScalarSlot kScalars[] = {
    {"max_len_left", offsetof(Args, max_len_left), ScalarSlot::Kind::i64, {}, kFollows},
    {"max_len_right", offsetof(Args, max_len_right), ScalarSlot::Kind::i64, {}, kFollows},
    {"n_prefix_to_right", offsetof(Args, n_prefix_to_right), ScalarSlot::Kind::i64}};
enum : size_t { kOffsetsLeft = 3, kOffsetsRight = 4 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_copy::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  if (!checks::given("offsets_left", args.offsets_left) && !checks::given("offsets_right", args.offsets_right))
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "offsets_left is absent, and so is offsets_right: one part at most is dense; a split of two dense parts is a "
         "view");
  return jagged_copy::prepare(
      Op::split_2d_jagged,
      {args.left, args.right, args.offsets_left, args.offsets_right, args.values, args.max_len_left, args.max_len_right,
       args.n_prefix_to_right, "values", "n_prefix_to_right", false, false});
}

Cost cost_of(const Args& args) {
  const auto parts = jagged_copy::parts_of(args.left, args.right, args.offsets_left, args.offsets_right,
                                           args.max_len_left, args.max_len_right);
  const int64_t rows = jagged_copy::rows_in_sequences(parts.left, args.offsets_left, parts.batch) +
                       jagged_copy::rows_in_sequences(parts.right, args.offsets_right, parts.batch);
  return jagged_copy::cost_of(rows, args.values, {&args.offsets_left, &args.offsets_right});
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsetsLeft], no_targets);
  edge_case::make_ragged(integers[kOffsetsRight], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const auto parts = jagged_copy::parts_of(args.left, args.right, args.offsets_left, args.offsets_right,
                                           args.max_len_left, args.max_len_right);
  const PartOffsets offsets = part_offsets(parts, args.offsets_left, args.offsets_right);
  const RowCopies left(args.left, exact, 0), right(args.right, exact, 1);
  for_each_combined_row(offsets, args.n_prefix_to_right, [&](int64_t combined, bool to_right, int64_t row) {
    (to_right ? right : left).copy(row, args.values, combined * args.values.stride[0], parts.left.dim);
  });
}

}  // namespace reference

}  // namespace hstujit
