// Prefix sums as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/jagged/jagged_fields.hpp"
#include "problem/jagged/jagged_lengths.hpp"

namespace hstujit {
namespace {

using Args = hstu_complete_cumsum_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype}, {"out_dtype", FieldKind::dtype}, {"count", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output}};

}  // namespace

OperatorFacts facts_of(const hstu_complete_cumsum_args*) { return {kFields, kTensors, {}}; }

Problem prepare(hstu_complete_cumsum_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor values = checks::required<1>("values", args.values), out = checks::required<1>("out", args.out);
  if (args.values.dtype != HSTU_DTYPE_I32 && args.values.dtype != HSTU_DTYPE_I64 && args.values.dtype != HSTU_DTYPE_F32)
    checks::refuse_dtype(values, "use i32, i64 or f32");
  if (!(args.values.dtype == HSTU_DTYPE_I32 && args.out.dtype == HSTU_DTYPE_I64)) checks::same_dtype(out, values);
  checks::extent(out, 0, args.values.shape[0] + 1, "one more than values.shape[0]");
  jagged_lengths::separate({&out}, {&values});
  Problem problem{Op::complete_cumsum, {}};
  problem[cumsum::kDtype] = args.values.dtype;
  problem[cumsum::kOutDtype] = args.out.dtype;
  problem[cumsum::kCount] = bucket(args.values.shape[0]);
  return problem;
}

Work work_of(const hstu_complete_cumsum_args& args) {
  return {.flops = static_cast<double>(args.values.shape[0]),
          .bytes = static_cast<double>(extent_bytes(args.values)) + static_cast<double>(extent_bytes(args.out))};
}

void make_edge_case(hstu_complete_cumsum_args& args, Integers&) {
  args.values.shape[0] = edge_case::ragged(args.values.shape[0]);
  args.out.shape[0] = args.values.shape[0] + 1;
}

}  // namespace hstujit
