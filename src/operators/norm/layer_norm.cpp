// Layer norm and swish layer norm as problems: checks, key and cost, which differ in what follows the norm only.
#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/norm/norm_fields.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},      {"weight_dtype", FieldKind::dtype},
                                 {"has_weight", FieldKind::exact}, {"fp8", FieldKind::dtype},
                                 {"scaling", FieldKind::exact},    {"dim", FieldKind::exact},
                                 {"vector", FieldKind::exact},     {"rows", FieldKind::bucket}};
// What quantises its results, on request.
template <class Args>
constexpr bool kQuantises = requires(Args a) {
  a.descale;
};

template <class Args>
constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input},
                                   {"weight", offsetof(Args, weight), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"y", offsetof(Args, y), TensorRole::output}};
template <class Args>
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32}};

constexpr TensorSlot kQuantisingTensors[] = {{"x", offsetof(hstu_layer_norm_args, x), TensorRole::input},
                                             {"weight", offsetof(hstu_layer_norm_args, weight), TensorRole::input},
                                             {"bias", offsetof(hstu_layer_norm_args, bias), TensorRole::input},
                                             {"y", offsetof(hstu_layer_norm_args, y), TensorRole::output},
                                             {"descale", offsetof(hstu_layer_norm_args, descale), TensorRole::output}};
constexpr ScalarSlot kQuantisingScalars[] = {
    {"eps", offsetof(hstu_layer_norm_args, eps), ScalarSlot::Kind::f32},
    {"scaling", offsetof(hstu_layer_norm_args, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords}};

template <class Args>
Problem prepare_norm(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.y, kQuantises<Args>);
  if constexpr (kQuantises<Args>) checks::quantised(r, args.descale, args.scaling);
  const bool weighted = checks::weight_and_bias(args.weight, args.bias, r.dim(), "x.shape[1]", r.y);
  args.eps = checks::eps(args.eps);
  checks::Vector vector(args.x.dtype);
  vector.tensor(args.x).tensor(args.y);
  if (weighted) vector.address(args.weight).address(args.bias);

  Problem problem{op_of<Args>(), {}};
  problem[layer_norm::kDtype] = args.x.dtype;
  problem[layer_norm::kWeightDtype] = args.weight.dtype;
  problem[layer_norm::kHasWeight] = weighted;
  if constexpr (kQuantises<Args>) {
    if (fp8::stores(args.y.dtype)) problem[layer_norm::kFp8] = args.y.dtype;
    problem[layer_norm::kScaling] = args.scaling;
  }
  problem[layer_norm::kDim] = checks::field(r.x, 1);
  problem[layer_norm::kVector] = vector.elements();
  problem[layer_norm::kRows] = bucket(args.x.shape[0]);
  return problem;
}

// Sum; difference, square and sum; scale; weight and bias; and what comes behind.
template <class Args>
Work work_of_norm(const Args& args, int flops_behind) {
  const double dim = static_cast<double>(args.x.shape[1]), elements = static_cast<double>(args.x.shape[0]) * dim;
  return {.flops = elements * ((present(args.weight) ? 7 : 5) + flops_behind),
          .bytes = elements * (size_of(args.x.dtype) + size_of(args.y.dtype)) + dim * 2 * size_of(args.weight.dtype)};
}

template <class Args>
void shorten(Args& args) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.y});
}

}  // namespace

OperatorFacts facts_of(const hstu_layer_norm_args*) { return {kFields, kQuantisingTensors, kQuantisingScalars}; }
Problem prepare(hstu_layer_norm_args& args) { return prepare_norm(args); }
Work work_of(const hstu_layer_norm_args& args) { return work_of_norm(args, 0); }
void make_edge_case(hstu_layer_norm_args& args, Integers&) {
  shorten(args);
  if (present(args.descale)) fp8::shorten_descale(args.descale, args.scaling, args.x.shape[0]);
}

OperatorFacts facts_of(const hstu_swish_layer_norm_args*) {
  return {kFields, kTensors<hstu_swish_layer_norm_args>, kScalars<hstu_swish_layer_norm_args>};
}
Problem prepare(hstu_swish_layer_norm_args& args) { return prepare_norm(args); }
Work work_of(const hstu_swish_layer_norm_args& args) {
  return work_of_norm(args, 2);  // sigmoid, counted as one, and product
}
void make_edge_case(hstu_swish_layer_norm_args& args, Integers&) { shorten(args); }

}  // namespace hstujit
