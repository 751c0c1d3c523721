// Norm, multiply and concatenate as a problem: checks, key and cost.
#include "problem/checks.hpp"
#include "problem/edge_case.hpp"
#include "problem/norm_fields.hpp"
#include "problem/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_norm_mul_args;

constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},      {"weight_dtype", FieldKind::dtype},
                                 {"dim", FieldKind::exact},        {"groups", FieldKind::exact},
                                 {"activation", FieldKind::exact}, {"concat_u", FieldKind::exact},
                                 {"concat_x", FieldKind::exact},   {"silu_u", FieldKind::exact},
                                 {"vector", FieldKind::exact},     {"rows", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"attn", offsetof(Args, attn), TensorRole::input},
                                   {"u", offsetof(Args, u), TensorRole::input},
                                   {"weight", offsetof(Args, weight), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32},
                                   {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
                                   {"concat_u", offsetof(Args, concat_u), ScalarSlot::Kind::i32},
                                   {"concat_x", offsetof(Args, concat_x), ScalarSlot::Kind::i32},
                                   {"silu_u", offsetof(Args, silu_u), ScalarSlot::Kind::i32},
                                   {"num_groups", offsetof(Args, num_groups), ScalarSlot::Kind::i32}};

/// Flags that do nothing are cleared, so that equal work has one key.
void check_flags(hstu_norm_mul_args& args) {
  checks::flag("concat_u", args.concat_u);
  checks::flag("concat_x", args.concat_x);
  checks::flag("silu_u", args.silu_u);
  checks::not_negative("num_groups", args.num_groups, "0 means layer norm over the row");
  const int activation = checks::code(args.activation);
  if (activation < HSTU_ACTIVATION_NONE || activation > HSTU_ACTIVATION_SIGMOID)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: norm_mul covers NONE (0), SILU (1) and SIGMOID (2)",
         activation);
  if (args.num_groups > 0) {  // the multiplier is u', and segments come together
    args.activation = HSTU_ACTIVATION_NONE;
    args.concat_u = args.concat_x = args.concat_u & args.concat_x;
  } else if (args.concat_u == 0) {
    args.silu_u = 0;  // it acts on the segment u' only
  }
}

/// Length of the part of a row that has statistics of its own.
int64_t normed_length(const hstu_norm_mul_args& args, int64_t dim) {
  if (args.num_groups == 0) return dim;
  if (dim % args.num_groups != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_groups = {}: it must divide attn.shape[1] = {}", args.num_groups, dim);
  return dim / args.num_groups;
}

checks::Tensor check_weight(const char* name, hstu_tensor& t, const hstu_norm_mul_args& args,
                            const checks::Tensor& attn, const checks::Tensor& out) {
  const checks::Tensor weight = checks::required<1>(name, t);
  checks::floating(weight);
  if (args.num_groups > 0)
    checks::extent(weight, 0, args.num_groups, "num_groups");
  else
    checks::extent(weight, 0, attn.t.shape[1], "attn.shape[1]");
  checks::disjoint(out, weight);
  return weight;
}

checks::Tensor check_out(hstu_norm_mul_args& args, const checks::Tensor& attn, const checks::Tensor& u) {
  const checks::Tensor out = checks::required<2>("out", args.out);
  checks::same_dtype(out, attn);
  checks::extent(out, 0, attn.t.shape[0], "attn.shape[0]");
  int64_t columns = 0;
  if (__builtin_mul_overflow(attn.t.shape[1], 1 + args.concat_u + args.concat_x, &columns))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "attn.shape[1] = {}: the output's row overflows 64 bits", attn.t.shape[1]);
  checks::extent(out, 1, columns, "segments (1 + concat_u + concat_x) * attn.shape[1]");
  checks::no_self_overlap(out);
  checks::disjoint(out, attn);
  checks::disjoint(out, u);
  return out;
}

}  // namespace

OperatorFacts facts_of(const hstu_norm_mul_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_norm_mul_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor attn = checks::required<2>("attn", args.attn), u = checks::required<2>("u", args.u);
  checks::floating(attn);
  checks::same_dtype(u, attn);
  checks::extent(u, 0, attn.t.shape[0], "attn.shape[0]");
  checks::extent(u, 1, attn.t.shape[1], "attn.shape[1]");
  check_flags(args);
  const checks::Tensor out = check_out(args, attn, u);
  const checks::Tensor weight = check_weight("weight", args.weight, args, attn, out);
  const checks::Tensor bias = check_weight("bias", args.bias, args, attn, out);
  checks::same_dtype(bias, weight);
  args.eps = checks::eps(args.eps);

  const int64_t dim = attn.t.shape[1];
  checks::Vector vector(attn.t.dtype);
  // Segments of out start at multiples of dim, groups at multiples of their length.
  vector.tensor(attn.t).tensor(u.t).tensor(out.t).length(normed_length(args, dim));
  if (args.num_groups == 0) vector.address(weight.t).address(bias.t);

  Problem problem{Op::norm_mul, {}};
  problem[norm_mul::kDtype] = attn.t.dtype;
  problem[norm_mul::kWeightDtype] = weight.t.dtype;
  problem[norm_mul::kDim] = checks::field(attn, 1);
  problem[norm_mul::kGroups] = args.num_groups;
  problem[norm_mul::kActivation] = args.activation;
  problem[norm_mul::kConcatU] = args.concat_u;
  problem[norm_mul::kConcatX] = args.concat_x;
  problem[norm_mul::kSiluU] = args.silu_u;
  problem[norm_mul::kVector] = vector.elements();
  problem[norm_mul::kRows] = bucket(attn.t.shape[0]);
  return problem;
}

Work work_of(const hstu_norm_mul_args& args) {
  const double elements = static_cast<double>(args.attn.shape[0]) * static_cast<double>(args.attn.shape[1]);
  const int segments = 1 + args.concat_u + args.concat_x;
  const double weights = 2 * static_cast<double>(args.weight.shape[0]);
  // Sum; difference, square and sum; scale; weight and bias; product.
  return {.flops = elements * 8,
          .bytes = elements * (2 + segments) * size_of(args.attn.dtype) + weights * size_of(args.weight.dtype)};
}

void make_edge_case(hstu_norm_mul_args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.attn.shape[0]), {&args.attn, &args.u, &args.out});
}

}  // namespace hstujit
