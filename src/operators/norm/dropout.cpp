// Seeded dropout: facts, checks, key, cost and reference.
#include "operators/norm/dropout.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

using Args = hstu_dropout_args;

constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
                                   {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {
    {"ratio", offsetof(Args, ratio), ScalarSlot::Kind::f32},
    {"words_per_counter", offsetof(Args, words_per_counter), ScalarSlot::Kind::i32, {}, {1}},
    {"seed", offsetof(Args, seed), ScalarSlot::Kind::i64}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {dropout::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.out);
  checks::dropout_ratio("ratio", args.ratio);
  if (args.words_per_counter != 0 && args.words_per_counter != 1 && args.words_per_counter != 4)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "words_per_counter = {}: it must be 1 or 4; 0 means 1", args.words_per_counter);
  if (args.words_per_counter == 0) args.words_per_counter = 1;
  // Without gaps the tensors are one row, whose last elements may be fewer than an access.
  const bool flat = args.x.stride[0] == r.dim() && args.out.stride[0] == r.dim();
  checks::Vector vector(args.x.dtype);
  vector.address(args.x).address(args.out);
  if (!flat) vector.tensor(args.x).tensor(args.out);

  Problem problem{Op::dropout, {}};
  problem[dropout::kDtype] = args.x.dtype;
  problem[dropout::kActive] = args.ratio > 0;
  problem[dropout::kFlat] = flat;
  problem[dropout::kWords] = args.ratio > 0 ? args.words_per_counter : 1;
  problem[dropout::kVector] = vector.elements();
  problem[dropout::kRows] = bucket(args.x.shape[0]);
  problem[dropout::kDim] = bucket(r.dim());
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  return {.flops = elements, .bytes = elements * 2 * size_of(args.x.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const auto words = static_cast<uint64_t>(args.words_per_counter);
  for_rows(args.x, args.out, exact, 100, [&](Row& x, int64_t row) {
    const uint64_t first = static_cast<uint64_t>(row) * x.size();
    for (size_t i = 0; args.ratio > 0 && i < x.size(); ++i) {
      const uint64_t index = first + i;
      const uint32_t word = philox(index / words, static_cast<uint64_t>(args.seed))[index % words];
      x[i] = kept(x[i], word, args.ratio);
    }
  });
}

}  // namespace reference

}  // namespace hstujit
