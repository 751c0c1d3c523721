// The product of FP8 matrices as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/fp8_fields.hpp"
#include "problem/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_fp8_gemm_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype},     {"dtype_a", FieldKind::dtype},    {"dtype_b", FieldKind::dtype},
    {"n", FieldKind::exact},         {"k", FieldKind::exact},          {"scaling_a", FieldKind::exact},
    {"scaling_b", FieldKind::exact}, {"bias_dtype", FieldKind::dtype}, {"vector_a", FieldKind::exact},
    {"vector_b", FieldKind::exact},  {"vector_out", FieldKind::exact}, {"fast", FieldKind::exact},
    {"m", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"a", offsetof(Args, a), TensorRole::input},
                                   {"b", offsetof(Args, b), TensorRole::input, 1},
                                   {"a_descale", offsetof(Args, a_descale), TensorRole::input},
                                   {"b_descale", offsetof(Args, b_descale), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output}};
constexpr std::string_view kAccumulationWords[] = {"128", "fast"};
constexpr ScalarSlot kScalars[] = {
    {"a_scaling", offsetof(Args, a_scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"b_scaling", offsetof(Args, b_scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"accumulation", offsetof(Args, accumulation), ScalarSlot::Kind::i32, kAccumulationWords}};

void check_accumulation(const hstu_fp8_accumulation& accumulation) {
  const int value = checks::code(accumulation);
  if (value < HSTU_FP8_ACCUMULATE_128 || value > HSTU_FP8_ACCUMULATE_FAST)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "accumulation = {}: use ACCUMULATE_128 (0) or ACCUMULATE_FAST (1)", value);
}
bool changes_along_k(hstu_fp8_scaling scaling) { return scaling == HSTU_FP8_GROUP || scaling == HSTU_FP8_BLOCK; }

void check_bias(hstu_tensor& t, const checks::Tensor& out) {
  if (!checks::given("bias", t)) return;
  const checks::Tensor bias = checks::required<1>("bias", t);
  checks::floating(bias);
  checks::extent(bias, 0, out.t.shape[1], "n");
  checks::disjoint(out, bias);
}

int32_t bytes_an_access(const hstu_tensor& t) {
  return checks::Vector(16).tensor(t).lines(t.shape[0], t.stride[0], t.shape[1]).elements();
}

}  // namespace

OperatorFacts facts_of(const hstu_fp8_gemm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_fp8_gemm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor a = checks::required<2>("a", args.a), b = checks::required<2>("b", args.b);
  const checks::Tensor out = checks::required<2>("out", args.out);
  fp8::is_fp8(a);
  fp8::is_fp8(b);
  checks::floating(out);
  checks::extent(b, 1, a.t.shape[1], "k = a.shape[1]");
  checks::extent(out, 0, a.t.shape[0], "m = a.shape[0]");
  checks::extent(out, 1, b.t.shape[0], "n = b.shape[0]");
  checks::no_self_overlap(out);
  checks::disjoint(out, a);
  checks::disjoint(out, b);
  fp8::check_scaling("a_scaling", args.a_scaling);
  fp8::check_scaling("b_scaling", args.b_scaling);
  check_accumulation(args.accumulation);
  checks::disjoint(out, fp8::check_descale("a_descale", args.a_descale, args.a_scaling, a.t.shape[0], a.t.shape[1]));
  checks::disjoint(out, fp8::check_descale("b_descale", args.b_descale, args.b_scaling, b.t.shape[0], b.t.shape[1]));
  check_bias(args.bias, out);

  Problem problem{Op::fp8_gemm, {}};
  problem[fp8_gemm::kDtype] = out.t.dtype;
  problem[fp8_gemm::kDtypeA] = a.t.dtype;
  problem[fp8_gemm::kDtypeB] = b.t.dtype;
  problem[fp8_gemm::kN] = checks::field(b, 0);
  problem[fp8_gemm::kK] = checks::field(b, 1);
  problem[fp8_gemm::kScalingA] = args.a_scaling;
  problem[fp8_gemm::kScalingB] = args.b_scaling;
  problem[fp8_gemm::kBiasDtype] = args.bias.dtype;
  problem[fp8_gemm::kVectorA] = bytes_an_access(a.t);
  problem[fp8_gemm::kVectorB] = bytes_an_access(b.t);
  problem[fp8_gemm::kVectorOut] = checks::Vector(out.t.dtype).tensor(out.t).elements();
  problem[fp8_gemm::kFast] = args.accumulation == HSTU_FP8_ACCUMULATE_FAST && !changes_along_k(args.a_scaling) &&
                             !changes_along_k(args.b_scaling);
  problem[fp8_gemm::kM] = bucket(a.t.shape[0]);
  return problem;
}

Work work_of(const hstu_fp8_gemm_args& args) {
  const double m = static_cast<double>(args.a.shape[0]), k = static_cast<double>(args.a.shape[1]);
  const double n = static_cast<double>(args.b.shape[0]);
  const double scales = fp8::descale_bytes(args.a_descale) + fp8::descale_bytes(args.b_descale);
  return {.flops = 2 * m * n * k,
          .bytes = m * k + k * n + m * n * size_of(args.out.dtype) + n * size_of(args.bias.dtype) + scales};
}

void make_edge_case(hstu_fp8_gemm_args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.a.shape[0]);
  edge_case::shorten_rows(rows, {&args.a, &args.out});
  fp8::shorten_descale(args.a_descale, args.a_scaling, rows);
}

}  // namespace hstujit
