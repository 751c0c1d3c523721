// The gated product of FP8, an HSTU layer's output stage, as a problem: checks, key and cost.
#include "problem/dense/gated_stage.hpp"
#include "problem/fp8/fp8_fields.hpp"
#include "problem/fp8/fp8_scales.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

using Args = hstu_gated_fp8_gemm_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype},  {"weight_dtype", FieldKind::dtype}, {"dim", FieldKind::exact},
    {"n", FieldKind::exact},      {"parts", FieldKind::exact},        {"residual", FieldKind::exact},
    {"vector", FieldKind::exact}, {"vector_w", FieldKind::exact},     {"m", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"attn", offsetof(Args, attn), TensorRole::input},
                                   {"u", offsetof(Args, u), TensorRole::input},
                                   {"moments", offsetof(Args, moments), TensorRole::input},
                                   {"weight", offsetof(Args, weight), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"w", offsetof(Args, w), TensorRole::input, 1},
                                   {"w_descale", offsetof(Args, w_descale), TensorRole::input},
                                   {"x", offsetof(Args, x), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32}};

void check_w(Args& args, const gated_stage::Stage& stage) {
  const checks::Tensor w = checks::required<2>("w", args.w);
  if (w.t.dtype != HSTU_DTYPE_E4M3) checks::refuse_dtype(w, "it must be e4m3");
  checks::extent(w, 0, stage.out.t.shape[1], "n = out.shape[1]");
  checks::extent(w, 1, stage.k, "3 * attn.shape[1]");
  checks::disjoint(stage.out, w);
  checks::disjoint(stage.out, fp8::check_descale("w_descale", args.w_descale, HSTU_FP8_ROW, w.t.shape[0], stage.k));
}

}  // namespace

OperatorFacts facts_of(const hstu_gated_fp8_gemm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_gated_fp8_gemm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const gated_stage::Stage stage = gated_stage::check(gated_stage::operands_of(args));
  check_w(args, stage);

  Problem problem{Op::gated_fp8_gemm, {}};
  problem[gated_fp8_gemm::kDtype] = stage.attn.t.dtype;
  problem[gated_fp8_gemm::kWeightDtype] = stage.weight.t.dtype;
  problem[gated_fp8_gemm::kDim] = checks::field(stage.attn, 1);
  problem[gated_fp8_gemm::kN] = checks::field(stage.out, 1);
  problem[gated_fp8_gemm::kParts] = static_cast<int32_t>(args.moments.shape[1]);
  problem[gated_fp8_gemm::kResidual] = stage.residual;
  problem[gated_fp8_gemm::kVector] = stage.vector;
  problem[gated_fp8_gemm::kVectorW] = fp8::bytes_an_access(args.w);
  problem[gated_fp8_gemm::kM] = bucket(stage.attn.t.shape[0]);
  return problem;
}

Work work_of(const hstu_gated_fp8_gemm_args& args) {
  const double weights = static_cast<double>(args.w.shape[0]) * static_cast<double>(args.w.shape[1]);
  return {.flops = 2 * static_cast<double>(args.attn.shape[0]) * weights,
          .bytes = weights + fp8::descale_bytes(args.w_descale) +
                   gated_stage::bytes_of(args.attn, args.moments, args.weight, args.x, args.out)};
}

void make_edge_case(hstu_gated_fp8_gemm_args& args, Integers&) {
  gated_stage::make_edge_case(gated_stage::operands_of(args));
}

}  // namespace hstujit
