// Layer norm as a problem: checks, key and cost.
#include "problem/checks.hpp"
#include "problem/edge_case.hpp"
#include "problem/norm_fields.hpp"
#include "problem/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_layer_norm_args;

constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},      {"weight_dtype", FieldKind::dtype},
                                 {"has_weight", FieldKind::exact}, {"dim", FieldKind::exact},
                                 {"vector", FieldKind::exact},     {"rows", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input},
                                   {"weight", offsetof(Args, weight), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"y", offsetof(Args, y), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32}};

/// weight and bias come together: true when both are there.
bool has_weight(const hstu_layer_norm_args& args) {
  const bool weight = checks::given("weight", args.weight), bias = checks::given("bias", args.bias);
  if (weight != bias)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is absent, but {} is there: give both or neither", weight ? "bias" : "weight",
         weight ? "weight" : "bias");
  return weight;
}

checks::Tensor check_weight(const char* name, hstu_tensor& t, int64_t dim, const checks::Tensor& y) {
  const checks::Tensor weight = checks::required<1>(name, t);
  checks::floating(weight);
  checks::extent(weight, 0, dim, "x.shape[1]");
  checks::disjoint(y, weight);
  return weight;
}

}  // namespace

OperatorFacts facts_of(const hstu_layer_norm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_layer_norm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<2>("x", args.x), y = checks::required<2>("y", args.y);
  checks::floating(x);
  checks::same_dtype(y, x);
  checks::extent(y, 0, x.t.shape[0], "x.shape[0]");
  checks::extent(y, 1, x.t.shape[1], "x.shape[1]");
  checks::no_self_overlap(y);
  checks::disjoint_or_same(y, x);
  args.eps = checks::eps(args.eps);

  const int64_t dim = x.t.shape[1];
  checks::Vector vector(x.t.dtype);
  vector.tensor(x.t).tensor(y.t);
  const bool weighted = has_weight(args);
  if (weighted) {
    const checks::Tensor weight = check_weight("weight", args.weight, dim, y);
    const checks::Tensor bias = check_weight("bias", args.bias, dim, y);
    checks::same_dtype(bias, weight);
    vector.address(weight.t).address(bias.t);
  }

  Problem problem{Op::layer_norm, {}};
  problem[layer_norm::kDtype] = x.t.dtype;
  problem[layer_norm::kWeightDtype] = args.weight.dtype;
  problem[layer_norm::kHasWeight] = weighted;
  problem[layer_norm::kDim] = checks::field(x, 1);
  problem[layer_norm::kVector] = vector.elements();
  problem[layer_norm::kRows] = bucket(x.t.shape[0]);
  return problem;
}

Work work_of(const hstu_layer_norm_args& args) {
  const double dim = static_cast<double>(args.x.shape[1]), elements = static_cast<double>(args.x.shape[0]) * dim;
  const bool weighted = present(args.weight);
  // Sum; difference, square and sum; scale; weight and bias.
  return {.flops = elements * (weighted ? 7 : 5),
          .bytes = elements * 2 * size_of(args.x.dtype) + dim * 2 * size_of(args.weight.dtype)};
}

void make_edge_case(hstu_layer_norm_args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.y});
}

}  // namespace hstujit
