// A jagged tensor as padded matrices, as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/jagged/padded.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_to_padded_dense_args;

constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer},
                                   {"out", offsetof(Args, out), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"padding", offsetof(Args, padding), ScalarSlot::Kind::f32}};
enum : size_t { kOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const hstu_jagged_to_padded_dense_args*) { return {padded::fields(), kTensors, kScalars}; }

Problem prepare(hstu_jagged_to_padded_dense_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor jagged = checks::required<2>("values", args.values);
  const checks::Tensor dense = checks::required<3>("out", args.out);
  return padded::check(Op::jagged_to_padded_dense, jagged, dense, args.offsets, true);
}

Work work_of(const hstu_jagged_to_padded_dense_args& args) {
  return padded::work_of(args.values, args.out, args.offsets, true);
}

void make_edge_case(hstu_jagged_to_padded_dense_args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

}  // namespace hstujit
