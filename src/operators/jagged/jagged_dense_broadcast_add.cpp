// A dense row added to all rows of its sequence: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/jagged/added_rows.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_dense_broadcast_add_args;

constexpr TensorSlot kTensors[] = {
    {"jagged", offsetof(Args, jagged), TensorRole::input, of_rank(2, kFloating)},
    {"dense", offsetof(Args, dense), TensorRole::input, of_rank(2, kFloating)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
enum : size_t { kSeqOffsets = 2 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {added_rows::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  added_rows::Check check(Op::jagged_dense_broadcast_add, "jagged", args.jagged, args.out, args.seq_offsets);
  check.table("dense", args.dense, true);
  checks::extent({"dense", args.dense}, 0, check.batch(), "batch = seq_offsets.shape[0] - 1");
  return check.problem();
}

Cost cost_of(const Args& args) { return added_rows::cost_of(args.jagged, args.seq_offsets, {&args.dense}); }

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kSeqOffsets], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  add_rows(args.jagged, args.out, args.seq_offsets, 1,
           {{args.dense, [](const SequenceRow& at) { return at.sequence; }}}, exact);
}

}  // namespace reference

}  // namespace hstujit
