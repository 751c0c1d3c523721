// Rows of padded matrices as a jagged tensor, as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/jagged/padded.hpp"

namespace hstujit {
namespace {

using Args = hstu_dense_to_jagged_args;

constexpr TensorSlot kTensors[] = {{"dense", offsetof(Args, dense), TensorRole::input},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer},
                                   {"out", offsetof(Args, out), TensorRole::output}};
enum : size_t { kOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const hstu_dense_to_jagged_args*) { return {padded::fields(), kTensors, {}}; }

Problem prepare(hstu_dense_to_jagged_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor jagged = checks::required<2>("out", args.out);
  const checks::Tensor dense = checks::required<3>("dense", args.dense);
  return padded::check(Op::dense_to_jagged, jagged, dense, args.offsets, false);
}

Work work_of(const hstu_dense_to_jagged_args& args) {
  return padded::work_of(args.out, args.dense, args.offsets, false);
}

void make_edge_case(hstu_dense_to_jagged_args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

}  // namespace hstujit
