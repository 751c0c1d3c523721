// Position embeddings: facts, checks, key, cost and reference. History counts forwards, targets share the number behind
// it.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/added_rows.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_add_positional_embeddings_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
    {"position_embeddings", offsetof(Args, position_embeddings), TensorRole::input, of_rank(2, kFloating)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"num_targets", offsetof(Args, num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32, {}, {1}},
                                   {"interleave_targets", offsetof(Args, interleave_targets), ScalarSlot::Kind::i32}};
enum : size_t { kSeqOffsets = 2, kNumTargets = 3 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {added_rows::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  added_rows::Check check(Op::add_positional_embeddings, "x", args.x, args.out, args.seq_offsets);
  check.table("position_embeddings", args.position_embeddings, false);
  check.targets(args.num_targets);
  checks::flag("interleave_targets", args.interleave_targets);
  args.alpha = added_rows::alpha(args.alpha);
  return check.problem();
}

Cost cost_of(const Args& args) {
  return added_rows::cost_of(args.x, args.seq_offsets, {&args.position_embeddings, &args.num_targets});
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

namespace reference {

void run(const Args& args, double* const* exact) {
  check_counts("num_targets", args.num_targets);
  const auto position = [&](const SequenceRow& at) {
    const int64_t history = history_of(at, args.num_targets, args.interleave_targets);
    return std::min(at.local(), limited(history, args.position_embeddings));
  };
  add_rows(args.x, args.out, args.seq_offsets, args.alpha, {{args.position_embeddings, position}}, exact);
}

}  // namespace reference

}  // namespace hstujit
