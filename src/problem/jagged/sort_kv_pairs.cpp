// Pairs sorted by their keys as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/jagged/jagged_fields.hpp"
#include "problem/jagged/jagged_lengths.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_sort_kv_pairs_args;

constexpr FieldInfo kFields[] = {
    {"key_dtype", FieldKind::dtype}, {"value_bytes", FieldKind::exact}, {"count", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"keys", offsetof(Args, keys), TensorRole::input},
                                   {"values", offsetof(Args, values), TensorRole::input},
                                   {"out_keys", offsetof(Args, out_keys), TensorRole::output},
                                   {"out_values", offsetof(Args, out_values), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"end_bit", offsetof(Args, end_bit), ScalarSlot::Kind::i32},
                                   {"descending", offsetof(Args, descending), ScalarSlot::Kind::i32}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor keys = checks::required<1>("keys", args.keys),
                       values = checks::required<1>("values", args.values);
  const checks::Tensor out_keys = checks::required<1>("out_keys", args.out_keys);
  const checks::Tensor out_values = checks::required<1>("out_values", args.out_values);
  checks::integer(keys);
  checks::same_dtype(out_keys, keys);
  checks::same_dtype(out_values, values);
  for (const checks::Tensor* t : {&values, &out_keys, &out_values})
    checks::extent(*t, 0, args.keys.shape[0], "n = keys.shape[0]");
  checks::flag("descending", args.descending);
  const int bits = args.keys.dtype == HSTU_DTYPE_I32 ? 32 : 64;
  if (args.end_bit < 0 || args.end_bit > bits)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "end_bit = {}: it must lie in 0 to {}, the bits of a key; 0 means all",
         args.end_bit, bits);
  jagged_lengths::separate({&out_keys, &out_values}, {&keys, &values});
  Problem problem{Op::sort_kv_pairs, {}};
  problem[sort::kKeyDtype] = args.keys.dtype;
  problem[sort::kValueBytes] = static_cast<int32_t>(checks::element_bytes(args.values.dtype));
  if (args.keys.shape[0] > int64_t{1} << 30) checks::refuse_size(keys, 0);  // kernels count elements in 32 bits
  problem[sort::kCount] = bucket(args.keys.shape[0]);
  return problem;
}

Work work_of(const Args& args) {
  const auto n = static_cast<double>(args.keys.shape[0]);
  return {.flops = n * n, .bytes = 2 * n * (size_of(args.keys.dtype) + size_of(args.values.dtype))};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.keys.shape[0]),
                          {&args.keys, &args.values, &args.out_keys, &args.out_values});
}

}  // namespace hstujit
