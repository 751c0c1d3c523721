// A jagged vector as rows of one length, as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/jagged/jagged_fields.hpp"
#include "problem/jagged/jagged_lengths.hpp"

namespace hstujit {
namespace {

using Args = hstu_expand_1d_jagged_to_dense_args;

constexpr FieldInfo kFields[] = {{"element_bytes", FieldKind::exact},
                                 {"offset_dtype", FieldKind::dtype},
                                 {"batch", FieldKind::bucket},
                                 {"max_len", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer},
                                   {"out", offsetof(Args, out), TensorRole::output}};
enum : size_t { kOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const hstu_expand_1d_jagged_to_dense_args*) { return {kFields, kTensors, {}}; }

Problem prepare(hstu_expand_1d_jagged_to_dense_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor values = checks::required<1>("values", args.values), out = checks::required<2>("out", args.out);
  const checks::Tensor offsets = checks::offsets("offsets", args.offsets);
  checks::same_dtype(out, values);
  checks::extent(out, 0, args.offsets.shape[0] - 1, "batch = offsets.shape[0] - 1");
  checks::field(out, 1);
  jagged_lengths::separate({&out}, {&values, &offsets});
  Problem problem{Op::expand_1d_jagged_to_dense, {}};
  problem[expand::kElementBytes] = static_cast<int32_t>(checks::element_bytes(args.values.dtype));
  problem[expand::kOffsetDtype] = args.offsets.dtype;
  problem[expand::kBatch] = bucket(args.out.shape[0]);
  problem[expand::kMaxLen] = bucket(args.out.shape[1]);
  return problem;
}

Work work_of(const hstu_expand_1d_jagged_to_dense_args& args) {
  const double elements = static_cast<double>(args.out.shape[0]) * static_cast<double>(args.out.shape[1]);
  return {.flops = 0,
          .bytes = elements * size_of(args.out.dtype) + static_cast<double>(extent_bytes(args.values)) +
                   static_cast<double>(extent_bytes(args.offsets))};
}

void make_edge_case(hstu_expand_1d_jagged_to_dense_args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

}  // namespace hstujit
