// RMS norm of rows: facts, checks, key, cost and reference.
#include "operators/norm/rms_norm.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_rms_norm_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Args, weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating | kFp8)},
    {"descale", offsetof(Args, descale), TensorRole::output, of_rank(1, kF32).or_rank(2, 2).or_absent()}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f64, {}, {1e-5f}},
                                   {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
                                   {"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {rms_norm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.out, true);
  checks::quantised(r, args.descale, args.scaling);
  const bool weighted = checks::given("weight", args.weight);
  if (weighted) checks::weight("weight", args.weight, r.dim(), "x.shape[1]", r.out);
  const int activation = checks::code(args.activation);
  if (activation != HSTU_ACTIVATION_NONE && activation != HSTU_ACTIVATION_SILU)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: rms_norm covers NONE (0) and SILU (1)", activation);
  args.eps = checks::eps(args.eps);
  checks::Vector vector(args.x.dtype);
  vector.tensor(args.x).tensor(args.out);
  if (weighted) vector.address(args.weight);

  Problem problem{Op::rms_norm, {}};
  problem[rms_norm::kDtype] = args.x.dtype;
  problem[rms_norm::kWeightDtype] = args.weight.dtype;
  problem[rms_norm::kHasWeight] = weighted;
  if (fp8::stores(args.out.dtype)) problem[rms_norm::kFp8] = args.out.dtype;
  problem[rms_norm::kScaling] = args.scaling;
  problem[rms_norm::kDim] = checks::field(r.x, 1);
  problem[rms_norm::kActivation] = activation;
  problem[rms_norm::kVector] = vector.elements();
  problem[rms_norm::kRows] = bucket(args.x.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double dim = static_cast<double>(args.x.shape[1]), elements = static_cast<double>(args.x.shape[0]) * dim;
  const bool weighted = present(args.weight), silu = args.activation == HSTU_ACTIVATION_SILU;
  // Square and sum; scale; weight; sigmoid, counted as one, and product.
  return {.flops = elements * (3 + (weighted ? 1 : 0) + (silu ? 2 : 0)),
          .bytes = elements * (size_of(args.x.dtype) + size_of(args.out.dtype)) + dim * size_of(args.weight.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
  if (present(args.descale)) fp8::shorten_descale(args.descale, args.scaling, args.x.shape[0]);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1);
  const RowQuantiser quantiser(args.out, args.descale, args.scaling, exact);
  for_rows(args.x, args.out, exact, 20, [&](Row& x, int64_t row) {
    normalise_rms(x.data(), dim, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] = activate(args.activation, x[i] * weight[i]);
    quantiser.run(x, row);
  });
}

}  // namespace reference

}  // namespace hstujit
