// Layer norm and the product behind it as a problem: checks, key and cost.
#include "problem/checks.hpp"
#include "problem/dense/dense_fields.hpp"
#include "problem/dense/operand.hpp"
#include "problem/dense/product_terms.hpp"
#include "problem/edge_case.hpp"
#include "problem/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_norm_addmm_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype},      {"weight_dtype", FieldKind::dtype}, {"n", FieldKind::exact},
    {"k", FieldKind::exact},          {"bias", FieldKind::exact},         {"bias_dtype", FieldKind::dtype},
    {"activation", FieldKind::exact}, {"act_columns", FieldKind::exact},  {"weight_transposed", FieldKind::exact},
    {"vector", FieldKind::exact},     {"vector_w", FieldKind::exact},     {"split", FieldKind::exact},
    {"m", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input},
                                   {"norm_weight", offsetof(Args, norm_weight), TensorRole::input},
                                   {"norm_bias", offsetof(Args, norm_bias), TensorRole::input},
                                   {"w", offsetof(Args, w), TensorRole::input, 0},
                                   {"y", offsetof(Args, y), TensorRole::input},
                                   {"z", offsetof(Args, z), TensorRole::output},
                                   {"z1", offsetof(Args, z1), TensorRole::output},
                                   {"z2", offsetof(Args, z2), TensorRole::output},
                                   {"z3", offsetof(Args, z3), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
                                   {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64},
                                   {"eps", offsetof(Args, eps), ScalarSlot::Kind::f32}};

constexpr product_terms::Names kNames = {"norm_addmm",    "y", {"z", "z1", "z2", "z3"}, nullptr, "m = x.shape[0]",
                                         "n = w.shape[1]"};

/// weight or bias of the norm, apart from the results.
checks::Tensor check_affine(const char* name, hstu_tensor& t, int64_t k, const product_terms::Outputs& outputs) {
  const checks::Tensor affine = checks::required<1>(name, t);
  checks::floating(affine);
  checks::extent(affine, 0, k, "k = x.shape[1]");
  outputs.disjoint_from(affine);
  return affine;
}

int32_t check_bias(Args& args, const product_terms::Outputs& outputs) {
  if (checks::given("y", args.y) && args.y.rank != 1)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "y.rank = {}: it must be 1, a bias row; hstu_addmm takes residuals", args.y.rank);
  return outputs.check_bias(args.y, true);
}

}  // namespace

OperatorFacts facts_of(const hstu_norm_addmm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_norm_addmm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<2>("x", args.x), w = checks::required_any_strides<2>("w", args.w);
  checks::floating(x);
  checks::same_dtype(w, x);
  checks::extent(w, 0, x.t.shape[1], "k = x.shape[1]");
  const checks::Tensor z = checks::required<2>("z", args.z);
  checks::same_dtype(z, x);
  hstu_tensor* const parts[] = {&args.z, &args.z1, &args.z2, &args.z3};
  product_terms::Outputs outputs(kNames, z, parts, x.t.shape[0], w.t.shape[1]);
  outputs.disjoint_from(x);
  outputs.disjoint_from(w);
  const checks::Tensor weight = check_affine("norm_weight", args.norm_weight, x.t.shape[1], outputs);
  checks::same_dtype(check_affine("norm_bias", args.norm_bias, x.t.shape[1], outputs), weight);
  const int32_t bias = check_bias(args, outputs);
  product_terms::check_activation(kNames, product_terms::Activations::silu, args.activation, args.activation_columns,
                                  w.t.shape[1]);
  args.eps = checks::eps(args.eps);
  const Operand w_operand = operand_of(args.w, 0);
  outputs.vector.tensor(args.x).lines(args.x.shape[0], args.x.stride[0], args.x.shape[1]);
  outputs.vector.address(args.norm_weight).address(args.norm_bias);

  Problem problem{Op::norm_addmm, {}};
  problem[norm_addmm::kDtype] = x.t.dtype;
  problem[norm_addmm::kWeightDtype] = weight.t.dtype;
  problem[norm_addmm::kN] = checks::field(w, 1);
  problem[norm_addmm::kK] = checks::field(w, 0);
  problem[norm_addmm::kBias] = bias;
  problem[norm_addmm::kBiasDtype] = args.y.dtype;
  problem[norm_addmm::kActivation] = args.activation;
  const bool activated = args.activation != HSTU_ACTIVATION_NONE;
  problem[norm_addmm::kActColumns] = activated ? static_cast<int32_t>(args.activation_columns) : 0;
  problem[norm_addmm::kWeightTransposed] = w_operand.along_k;
  problem[norm_addmm::kVector] = outputs.vector.elements();
  problem[norm_addmm::kVectorW] = w_operand.vector;
  problem[norm_addmm::kSplit] = outputs.split;
  problem[norm_addmm::kM] = bucket(x.t.shape[0]);
  return problem;
}

Work work_of(const hstu_norm_addmm_args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.w.shape[1]);
  return {.flops = 2 * m * n * k,
          .bytes = (m * k + k * n + m * n) * size_of(args.x.dtype) + n * size_of(args.y.dtype) +
                   2 * k * size_of(args.norm_weight.dtype)};
}

void make_edge_case(hstu_norm_addmm_args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.z, &args.z1, &args.z2, &args.z3});
}

}  // namespace hstujit
