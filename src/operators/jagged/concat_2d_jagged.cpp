// Concatenation of jagged tensors, or replacement of last rows: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/jagged/jagged_copy.hpp"
#include "operators/jagged/jagged_rows.hpp"

namespace hstujit {
namespace {

using Args = hstu_concat_2d_jagged_args;

constexpr TensorSlot kTensors[] = {
    {"left", offsetof(Args, left), TensorRole::input, of_rank(2, kCopied).or_rank(3)},
    {"right", offsetof(Args, right), TensorRole::input, of_rank(2, kCopied).or_rank(3)},
    {"offsets_left", offsetof(Args, offsets_left), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"offsets_right", offsetof(Args, offsets_right), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kCopied)}};
constexpr ScalarSlot kScalars[] = {
    {"max_len_left", offsetof(Args, max_len_left), ScalarSlot::Kind::i64, {}, kFollows},
    {"max_len_right", offsetof(Args, max_len_right), ScalarSlot::Kind::i64, {}, kFollows},
    {"n_prefix_from_right", offsetof(Args, n_prefix_from_right), ScalarSlot::Kind::i64},
    {"is_replace", offsetof(Args, is_replace), ScalarSlot::Kind::i64}};
enum : size_t { kOffsetsLeft = 2, kOffsetsRight = 3 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_copy::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  checks::flag("is_replace", args.is_replace);
  return jagged_copy::prepare(
      Op::concat_2d_jagged,
      {args.left, args.right, args.offsets_left, args.offsets_right, args.out, args.max_len_left, args.max_len_right,
       args.n_prefix_from_right, "out", "n_prefix_from_right", args.is_replace != 0, true});
}

Cost cost_of(const Args& args) {
  const auto parts = jagged_copy::parts_of(args.left, args.right, args.offsets_left, args.offsets_right,
                                           args.max_len_left, args.max_len_right);
  int64_t rows = jagged_copy::rows_in_sequences(parts.left, args.offsets_left, parts.batch);
  if (!args.is_replace) rows += jagged_copy::rows_in_sequences(parts.right, args.offsets_right, parts.batch);
  return jagged_copy::cost_of(rows, args.left, {&args.offsets_left, &args.offsets_right});
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
  const RowCopies out(args.out, exact);
  const int64_t dim = parts.left.dim;
  if (args.is_replace) return replace_last_rows(offsets, args.left, args.right, dim, out);
  for_each_combined_row(offsets, args.n_prefix_from_right, [&](int64_t combined, bool right, int64_t row) {
    const hstu_tensor& from = right ? args.right : args.left;
    out.copy(combined, from, RowCopies::start_of(from, row), dim);
  });
}

}  // namespace reference

}  // namespace hstujit
