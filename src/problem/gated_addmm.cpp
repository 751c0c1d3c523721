// The gated product, an HSTU layer's output stage, as a problem: checks, key and cost.
#include "problem/checks.hpp"
#include "problem/dense_fields.hpp"
#include "problem/edge_case.hpp"
#include "problem/operand.hpp"
#include "problem/operators.hpp"
#include "problem/part_moments.hpp"
#include "problem/row_checks.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_gated_addmm_args;

constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},
                                 {"weight_dtype", FieldKind::dtype},
                                 {"dim", FieldKind::exact},
                                 {"n", FieldKind::exact},
                                 {"parts", FieldKind::exact},
                                 {"residual", FieldKind::exact},
                                 {"weight_transposed", FieldKind::exact},
                                 {"vector", FieldKind::exact},
                                 {"vector_w", FieldKind::exact},
                                 {"m", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"attn", offsetof(Args, attn), TensorRole::input},
                                   {"u", offsetof(Args, u), TensorRole::input},
                                   {"moments", offsetof(Args, moments), TensorRole::input},
                                   {"weight", offsetof(Args, weight), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"w", offsetof(Args, w), TensorRole::input, 0},
                                   {"x", offsetof(Args, x), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32}};

checks::Tensor check_out(Args& args, const checks::Tensor& attn, const checks::Tensor& u) {
  const checks::Tensor out = checks::required<2>("out", args.out);
  checks::same_dtype(out, attn);
  checks::extent(out, 0, attn.t.shape[0], "m = attn.shape[0]");
  checks::no_self_overlap(out);
  checks::disjoint(out, attn);
  checks::disjoint(out, u);
  return out;
}

void check_moments(Args& args, const checks::Tensor& attn, const checks::Tensor& out) {
  const checks::Tensor moments = checks::part_moments(args.moments, attn.t.shape[0], "m = attn.shape[0]");
  const int64_t parts = moments.t.shape[1];
  if (parts < 1 || attn.t.shape[1] % parts != 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "moments.shape[1] = {}: it must divide dim = attn.shape[1] = {}", parts,
         attn.t.shape[1]);
  checks::disjoint(out, moments);
}

void check_w(Args& args, const checks::Tensor& attn, const checks::Tensor& out) {
  const checks::Tensor w = checks::required_any_strides<2>("w", args.w);
  checks::same_dtype(w, attn);
  int64_t rows = 0;
  if (__builtin_mul_overflow(attn.t.shape[1], 3, &rows))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "attn.shape[1] = {}: the rows of w overflow 64 bits", attn.t.shape[1]);
  checks::extent(w, 0, rows, "3 * attn.shape[1]");
  checks::extent(w, 1, out.t.shape[1], "n = out.shape[1]");
  checks::disjoint(out, w);
}

/// True where there is one.
bool check_residual(Args& args, const checks::Tensor& out) {
  if (!checks::given("x", args.x)) return false;
  const checks::Tensor x = checks::required<2>("x", args.x);
  checks::same_dtype(x, out);
  checks::extent(x, 0, out.t.shape[0], "m = attn.shape[0]");
  checks::extent(x, 1, out.t.shape[1], "n = out.shape[1]");
  checks::disjoint_or_same(out, x);
  return true;
}

}  // namespace

OperatorFacts facts_of(const hstu_gated_addmm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_gated_addmm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor attn = checks::required<2>("attn", args.attn), u = checks::required<2>("u", args.u);
  checks::floating(attn);
  checks::same_dtype(u, attn);
  checks::extent(u, 0, attn.t.shape[0], "m = attn.shape[0]");
  checks::extent(u, 1, attn.t.shape[1], "dim = attn.shape[1]");
  const checks::Tensor out = check_out(args, attn, u);
  check_moments(args, attn, out);
  const checks::Tensor weight = checks::weight("weight", args.weight, attn.t.shape[1], "dim = attn.shape[1]", out);
  const checks::Tensor bias = checks::weight("bias", args.bias, attn.t.shape[1], "dim = attn.shape[1]", out);
  checks::same_dtype(bias, weight);
  check_w(args, attn, out);
  const bool residual = check_residual(args, out);
  args.eps = checks::eps(args.eps);

  checks::Vector vector(attn.t.dtype);
  vector.address(args.weight).address(args.bias);
  for (const hstu_tensor* t : {&args.attn, &args.u, &args.out, &args.x})
    if (present(*t)) vector.tensor(*t).lines(t->shape[0], t->stride[0], t->shape[1]);
  const Operand w = operand_of(args.w, 0);

  Problem problem{Op::gated_addmm, {}};
  problem[gated_addmm::kDtype] = attn.t.dtype;
  problem[gated_addmm::kWeightDtype] = weight.t.dtype;
  problem[gated_addmm::kDim] = checks::field(attn, 1);
  problem[gated_addmm::kN] = checks::field(out, 1);
  problem[gated_addmm::kParts] = static_cast<int32_t>(args.moments.shape[1]);
  problem[gated_addmm::kResidual] = residual;
  problem[gated_addmm::kWeightTransposed] = w.along_k;
  problem[gated_addmm::kVector] = vector.elements();
  problem[gated_addmm::kVectorW] = w.vector;
  problem[gated_addmm::kM] = bucket(attn.t.shape[0]);
  return problem;
}

Work work_of(const hstu_gated_addmm_args& args) {
  const double m = static_cast<double>(args.attn.shape[0]), dim = static_cast<double>(args.attn.shape[1]);
  const double n = static_cast<double>(args.out.shape[1]), rows = present(args.x) ? 2 * m : m;
  return {.flops = 2 * m * n * 3 * dim,
          .bytes = (2 * m * dim + 3 * dim * n + rows * n) * size_of(args.attn.dtype) +
                   8 * m * static_cast<double>(args.moments.shape[1]) + 2 * dim * size_of(args.weight.dtype)};
}

void make_edge_case(hstu_gated_addmm_args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.attn.shape[0]),
                          {&args.attn, &args.u, &args.moments, &args.x, &args.out});
}

}  // namespace hstujit
