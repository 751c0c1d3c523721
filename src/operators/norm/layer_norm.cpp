// Layer norm and swish layer norm of rows: facts, checks, key, cost and reference. They differ in what follows the norm
// only.
#include "operators/norm/layer_norm.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using LayerNorm = hstu_layer_norm_args;
using SwishLayerNorm = hstu_swish_layer_norm_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(LayerNorm, x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(LayerNorm, weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"bias", offsetof(LayerNorm, bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"out", offsetof(LayerNorm, out), TensorRole::output, of_rank(2, kFloating | kFp8)},
    {"descale", offsetof(LayerNorm, descale), TensorRole::output, of_rank(1, kF32).or_rank(2, 2).or_absent()},
    {"moments", offsetof(LayerNorm, moments), TensorRole::output, of_rank(3, kF32, 0).or_absent()}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(LayerNorm, eps), ScalarSlot::Kind::f32, {}, {1e-5f}},
                                   {"scaling", offsetof(LayerNorm, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords}};

constexpr TensorSlot kSwishTensors[] = {
    {"x", offsetof(SwishLayerNorm, x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(SwishLayerNorm, weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"bias", offsetof(SwishLayerNorm, bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"out", offsetof(SwishLayerNorm, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kSwishScalars[] = {{"eps", offsetof(SwishLayerNorm, eps), ScalarSlot::Kind::f64, {}, {1e-5f}}};

/// What quantises its results, on request.
template <class Args>
constexpr bool kQuantises = requires(Args a) {
  a.descale;
};

/// Statistics of whole rows, apart from all else that the call has. Says whether they are asked for.
bool check_moments(LayerNorm& args, const checks::Rows& r) {
  if (!checks::given("moments", args.moments)) return false;
  if (r.dim() == 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "moments is there, but x.shape[1] = 0: a row of nothing has no mean; leave it out");
  const checks::Tensor moments = checks::part_moments(args.moments, args.x.shape[0], "x.shape[0]");
  checks::extent(moments, 1, 1, "the number of parts");
  for (const checks::Tensor* other : {&r.x, &r.out}) checks::disjoint(moments, *other);
  checks::disjoint(moments, checks::Tensor{"descale", args.descale, extent_bytes(args.descale)});
  if (!present(args.weight)) return true;
  checks::disjoint(moments, checks::required<1>("weight", args.weight));
  checks::disjoint(moments, checks::required<1>("bias", args.bias));
  return true;
}

template <class Args>
Problem prepare_norm(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.out, kQuantises<Args>);
  if constexpr (kQuantises<Args>) checks::quantised(r, args.descale, args.scaling);
  const bool weighted = checks::weight_and_bias(args.weight, args.bias, r.dim(), "x.shape[1]", r.out);
  bool saves = false;
  if constexpr (kQuantises<Args>) saves = check_moments(args, r);
  args.eps = checks::eps(args.eps);
  checks::Vector vector(args.x.dtype);
  vector.tensor(args.x).tensor(args.out);
  if (weighted) vector.address(args.weight).address(args.bias);

  Problem problem{op_of<Args>(), {}};
  problem[layer_norm::kDtype] = args.x.dtype;
  problem[layer_norm::kWeightDtype] = args.weight.dtype;
  problem[layer_norm::kHasWeight] = weighted;
  if constexpr (kQuantises<Args>) {
    if (fp8::stores(args.out.dtype)) problem[layer_norm::kFp8] = args.out.dtype;
    problem[layer_norm::kScaling] = args.scaling;
  }
  problem[layer_norm::kDim] = checks::field(r.x, 1);
  problem[layer_norm::kVector] = vector.elements();
  problem[layer_norm::kRows] = bucket(args.x.shape[0]);
  problem[layer_norm::kMoments] = saves;
  return problem;
}

/// Sum; difference, square and sum; scale; weight and bias; and what comes behind.
template <class Args>
Cost cost_of_norm(const Args& args, int flops_behind) {
  const double dim = static_cast<double>(args.x.shape[1]), elements = static_cast<double>(args.x.shape[0]) * dim;
  return {.flops = elements * ((present(args.weight) ? 7 : 5) + flops_behind),
          .bytes = elements * (size_of(args.x.dtype) + size_of(args.out.dtype)) + dim * 2 * size_of(args.weight.dtype)};
}

}  // namespace

OperatorFacts facts_of(const LayerNorm*) { return {layer_norm::kFields, kTensors, kScalars}; }
OperatorFacts facts_of(const SwishLayerNorm*) { return {layer_norm::kFields, kSwishTensors, kSwishScalars}; }

Problem prepare(LayerNorm& args) { return prepare_norm(args); }
Problem prepare(SwishLayerNorm& args) { return prepare_norm(args); }

Cost cost_of(const LayerNorm& args) {
  Cost cost = cost_of_norm(args, 0);
  cost.bytes += bytes_of_all({&args.moments});
  return cost;
}
Cost cost_of(const SwishLayerNorm& args) { return cost_of_norm(args, 2); }  // sigmoid, counted as one, and product

void make_edge_case(LayerNorm& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out, &args.moments});
  if (present(args.descale)) fp8::shorten_descale(args.descale, args.scaling, args.x.shape[0]);
}
void make_edge_case(SwishLayerNorm& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
}

namespace reference {

void run(const LayerNorm& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1), bias = load_vector(args.bias, dim, 0);
  const RowQuantiser quantiser(args.out, args.descale, args.scaling, exact);
  const Output moments(args.moments, exact, 2);
  for_rows(args.x, args.out, exact, 20, [&](Row& x, int64_t row) {
    if (present(args.moments)) write_moments(moments, row, x);
    normalise(x.data(), dim, args.eps);
    scale_and_shift(x, weight, bias);
    quantiser.run(x, row);
  });
}

void run(const SwishLayerNorm& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1), bias = load_vector(args.bias, dim, 0);
  for_rows(args.x, args.out, exact, 20, [&](Row& x, int64_t) {
    Row norm = x;
    normalise(norm.data(), dim, args.eps);
    scale_and_shift(norm, weight, bias);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= sigmoid(norm[i]);
  });
}

}  // namespace reference

}  // namespace hstujit
