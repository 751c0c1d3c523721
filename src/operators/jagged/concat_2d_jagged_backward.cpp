// The gradient of a concatenation of jagged tensors, or of a replacement of last rows: facts, checks, key, cost and
// reference.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_copy.hpp"
#include "operators/jagged/jagged_rows.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_concat_2d_jagged_backward_args;

constexpr TensorSlot kTensors[] = {
    {"left", offsetof(Args, forward.left), TensorRole::input, of_rank(2, kCopied).or_rank(3)},
    {"right", offsetof(Args, forward.right), TensorRole::input, of_rank(2, kCopied).or_rank(3)},
    {"offsets_left", offsetof(Args, forward.offsets_left), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"offsets_right", offsetof(Args, forward.offsets_right), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"dout", offsetof(Args, dout), TensorRole::input, of_rank(2, kCopied)},
    {"dleft", offsetof(Args, dleft), TensorRole::output, of_rank(2, kCopied).or_rank(3).or_absent()},
    {"dright", offsetof(Args, dright), TensorRole::output, of_rank(2, kCopied).or_rank(3).or_absent()}};
constexpr ScalarSlot kScalars[] = {
    {"max_len_left", offsetof(Args, forward.max_len_left), ScalarSlot::Kind::i64, {}, kFollows},
    {"max_len_right", offsetof(Args, forward.max_len_right), ScalarSlot::Kind::i64, {}, kFollows},
    {"n_prefix_from_right", offsetof(Args, forward.n_prefix_from_right), ScalarSlot::Kind::i64},
    {"is_replace", offsetof(Args, forward.is_replace), ScalarSlot::Kind::i64}};
enum : size_t { kOffsetsLeft = 2, kOffsetsRight = 3 };  // slots of kTensors

jagged_copy::Parts parts_of(const Args& args) {
  const hstu_concat_2d_jagged_args& f = args.forward;
  return jagged_copy::parts_of(f.left, f.right, f.offsets_left, f.offsets_right, f.max_len_left, f.max_len_right);
}

int64_t rows_of(const JaggedPartFacts& part, const hstu_tensor& offsets, int64_t b) {
  return part.dense ? part.length : integer_at(offsets, b + 1) - integer_at(offsets, b);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_copy::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  hstu_concat_2d_jagged_args& f = args.forward;
  checks::struct_size(args.struct_size, sizeof args);
  checks::embedded_size("forward.struct_size", f.struct_size, sizeof f);
  checks::flag("is_replace", f.is_replace);
  return jagged_copy::prepare_gradient(
      op_of<Args>(),
      {f.left, f.right, f.offsets_left, f.offsets_right, args.dout, f.max_len_left, f.max_len_right,
       f.n_prefix_from_right, "dout", "n_prefix_from_right", f.is_replace != 0, false},
      args.dleft, args.dright);
}

// Rows of the gradients are written; those of dout that they come from are read.
Cost cost_of(const Args& args) {
  const jagged_copy::Parts parts = parts_of(args);
  double rows = 0;
  for (int64_t b = 0; b < parts.batch; ++b) {
    const int64_t a = rows_of(parts.left, args.forward.offsets_left, b),
                  c = rows_of(parts.right, args.forward.offsets_right, b);
    const int64_t replaced = args.forward.is_replace ? std::min(a, c) : 0;
    if (present(args.dleft)) rows += static_cast<double>(2 * a - replaced);
    if (present(args.dright)) rows += static_cast<double>(c + (args.forward.is_replace ? replaced : c));
  }
  const auto row = static_cast<double>(parts.left.dim * size_of(args.dout.dtype));
  return {.flops = 0, .bytes = rows * row + bytes_of_all({&args.forward.offsets_left, &args.forward.offsets_right})};
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsetsLeft], no_targets);
  edge_case::make_ragged(integers[kOffsetsRight], no_targets);
}

namespace reference {
namespace {

void clear_row(const RowCopies& out, int64_t row, int64_t dim) {
  for (int64_t i = 0; i < dim; ++i) out.clear(row, i);
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const jagged_copy::Parts parts = parts_of(args);
  const PartOffsets offsets = part_offsets(parts, args.forward.offsets_left, args.forward.offsets_right);
  const RowCopies dleft(args.dleft, exact, 0), dright(args.dright, exact, 1);
  const int64_t dim = parts.left.dim, stride = args.dout.stride[0];
  const auto give_back = [&](bool right, int64_t row, int64_t combined) {
    if (!present(right ? args.dright : args.dleft)) return;
    const RowCopies& to = right ? dright : dleft;
    if (combined < 0) return clear_row(to, row, dim);
    to.copy(row, args.dout, combined * stride, dim);
  };
  if (!args.forward.is_replace)
    return for_each_combined_row(offsets, args.forward.n_prefix_from_right,
                                 [&](int64_t combined, bool right, int64_t row) { give_back(right, row, combined); });
  for (size_t b = 0; b + 1 < offsets.left.size(); ++b) {
    const int64_t a = offsets.rows(offsets.left, b), c = offsets.rows(offsets.right, b),
                  kept = std::max<int64_t>(a - c, 0);
    for (int64_t t = 0; t < a; ++t) give_back(false, offsets.left[b] + t, t < kept ? offsets.left[b] + t : -1);
    for (int64_t t = 0; t < c; ++t)
      give_back(true, offsets.right[b] + t, t >= c - a ? offsets.left[b] + a - c + t : -1);
  }
}

}  // namespace reference

}  // namespace hstujit
