// Layer norm as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/norm_fields.hpp"
#include "problem/operators.hpp"
#include "problem/row_checks.hpp"

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

}  // namespace

OperatorFacts facts_of(const hstu_layer_norm_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_layer_norm_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.y);
  const bool weighted = checks::weight_and_bias(args.weight, args.bias, r.dim(), "x.shape[1]", r.y);
  args.eps = checks::eps(args.eps);
  checks::Vector vector(args.x.dtype);
  vector.tensor(args.x).tensor(args.y);
  if (weighted) vector.address(args.weight).address(args.bias);

  Problem problem{Op::layer_norm, {}};
  problem[layer_norm::kDtype] = args.x.dtype;
  problem[layer_norm::kWeightDtype] = args.weight.dtype;
  problem[layer_norm::kHasWeight] = weighted;
  problem[layer_norm::kDim] = checks::field(r.x, 1);
  problem[layer_norm::kVector] = vector.elements();
  problem[layer_norm::kRows] = bucket(args.x.shape[0]);
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
