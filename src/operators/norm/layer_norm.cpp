// Layer norm and swish layer norm of rows: facts, checks, key, cost and reference. They differ in what follows the norm
// only.
#include "operators/norm/layer_norm.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

using LayerNorm = hstu_layer_norm_args;
using SwishLayerNorm = hstu_swish_layer_norm_args;

constexpr TensorSlot kTensors[] = {{"x", offsetof(LayerNorm, x), TensorRole::input},
                                   {"weight", offsetof(LayerNorm, weight), TensorRole::input},
                                   {"bias", offsetof(LayerNorm, bias), TensorRole::input},
                                   {"y", offsetof(LayerNorm, y), TensorRole::output},
                                   {"descale", offsetof(LayerNorm, descale), TensorRole::output}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(LayerNorm, eps), ScalarSlot::Kind::f32},
                                   {"scaling", offsetof(LayerNorm, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords}};

constexpr TensorSlot kSwishTensors[] = {{"x", offsetof(SwishLayerNorm, x), TensorRole::input},
                                        {"weight", offsetof(SwishLayerNorm, weight), TensorRole::input},
                                        {"bias", offsetof(SwishLayerNorm, bias), TensorRole::input},
                                        {"y", offsetof(SwishLayerNorm, y), TensorRole::output}};
constexpr ScalarSlot kSwishScalars[] = {{"eps", offsetof(SwishLayerNorm, eps), ScalarSlot::Kind::f32}};

/// What quantises its results, on request.
template <class Args>
constexpr bool kQuantises = requires(Args a) {
  a.descale;
};

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

/// Sum; difference, square and sum; scale; weight and bias; and what comes behind.
template <class Args>
Work work_of_norm(const Args& args, int flops_behind) {
  const double dim = static_cast<double>(args.x.shape[1]), elements = static_cast<double>(args.x.shape[0]) * dim;
  return {.flops = elements * ((present(args.weight) ? 7 : 5) + flops_behind),
          .bytes = elements * (size_of(args.x.dtype) + size_of(args.y.dtype)) + dim * 2 * size_of(args.weight.dtype)};
}

}  // namespace

OperatorFacts facts_of(const LayerNorm*) { return {layer_norm::kFields, kTensors, kScalars}; }
OperatorFacts facts_of(const SwishLayerNorm*) { return {layer_norm::kFields, kSwishTensors, kSwishScalars}; }

Problem prepare(LayerNorm& args) { return prepare_norm(args); }
Problem prepare(SwishLayerNorm& args) { return prepare_norm(args); }

Work work_of(const LayerNorm& args) { return work_of_norm(args, 0); }
Work work_of(const SwishLayerNorm& args) { return work_of_norm(args, 2); }  // sigmoid, counted as one, and product

void make_edge_case(LayerNorm& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.y});
  if (present(args.descale)) fp8::shorten_descale(args.descale, args.scaling, args.x.shape[0]);
}
void make_edge_case(SwishLayerNorm& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.y});
}

namespace reference {

void run(const LayerNorm& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1), bias = load_vector(args.bias, dim, 0);
  const RowQuantiser quantiser(args.y, args.descale, args.scaling, exact);
  for_rows(args.x, args.y, exact, 20, [&](Row& x, int64_t row) {
    normalise(x.data(), dim, args.eps);
    scale_and_shift(x, weight, bias);
    quantiser.run(x, row);
  });
}

void run(const SwishLayerNorm& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1), bias = load_vector(args.bias, dim, 0);
  for_rows(args.x, args.y, exact, 20, [&](Row& x, int64_t) {
    Row norm = x;
    normalise(norm.data(), dim, args.eps);
    scale_and_shift(norm, weight, bias);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= sigmoid(norm[i]);
  });
}

}  // namespace reference

}  // namespace hstujit
