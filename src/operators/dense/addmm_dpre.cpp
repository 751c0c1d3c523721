// The gradient through a product's activation: facts, checks, key, cost, edge case and reference.
#include "operators/dense/addmm_dpre.hpp"

#include "operators/checks.hpp"
#include "operators/edge_case.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_addmm_dpre_args;
using checks::Tensor;
namespace key = addmm_dpre;

constexpr TensorSlot kTensors[] = {{"pre", offsetof(Args, pre), TensorRole::input, of_rank(2, kFloating)},
                                   {"dout", offsetof(Args, dout), TensorRole::input, of_rank(2, kFloating)},
                                   {"dpre", offsetof(Args, dpre), TensorRole::output, of_rank(2, kFloating)}};
constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kScalars[] = {
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords, kMustBeSet},
    {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64, {}, kFollows},
    {"determinism", offsetof(Args, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};

Tensor like_pre(const char* name, hstu_tensor& t, const Tensor& pre) {
  const Tensor like = checks::required<2>(name, t);
  checks::same_dtype(like, pre);
  checks::extent(like, 0, pre.t.shape[0], "pre.shape[0]");
  checks::extent(like, 1, pre.t.shape[1], "pre.shape[1]");
  return like;
}

void check_activation(Args& args) {
  const int activation = checks::code(args.activation);
  if (activation != HSTU_ACTIVATION_SILU && activation != HSTU_ACTIVATION_GELU &&
      activation != HSTU_ACTIVATION_GELU_TANH)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "activation = {}: addmm_dpre covers SILU (1), GELU (3) and GELU_TANH (4); without an activation dpre is dout",
         activation);
  checks::not_negative("activation_columns", args.activation_columns, "0 means all columns");
  const int64_t n = args.pre.shape[1];
  if (args.activation_columns > n)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation_columns = {}: pre has n = {} columns; 0 means all of them",
         args.activation_columns, n);
  if (args.activation_columns == 0) args.activation_columns = n;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {key::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const Tensor pre = checks::required<2>("pre", args.pre);
  checks::floating(pre);
  const Tensor dout = like_pre("dout", args.dout, pre), dpre = like_pre("dpre", args.dpre, pre);
  checks::no_self_overlap(dpre);
  checks::disjoint_or_same(dpre, pre);
  checks::disjoint_or_same(dpre, dout);
  check_activation(args);
  checks::flag("determinism", checks::code(args.determinism));

  const int64_t n = args.pre.shape[1];
  const bool partial = args.activation_columns < n;
  // Without gaps the tensors are one row, whose last elements may be fewer than an access.
  const bool flat = !partial && args.pre.stride[0] == n && args.dout.stride[0] == n && args.dpre.stride[0] == n;
  checks::Vector vector(args.pre.dtype);
  for (const hstu_tensor* t : {&args.pre, &args.dout, &args.dpre}) flat ? vector.address(*t) : vector.tensor(*t);

  Problem problem{op_of<Args>(), {}};
  problem[key::kDtype] = args.pre.dtype;
  problem[key::kActivation] = args.activation;
  problem[key::kPartial] = partial;
  problem[key::kFlat] = flat;
  problem[key::kVector] = vector.elements();
  problem[key::kM] = bucket(args.pre.shape[0]);
  problem[key::kN] = bucket(n);
  return problem;
}

// A slope is about ten operations. In dout's place the other columns stay.
Cost cost_of(const Args& args) {
  const double m = static_cast<double>(args.pre.shape[0]), n = static_cast<double>(args.pre.shape[1]);
  const double active = static_cast<double>(args.activation_columns);
  const double copied = args.dpre.data == args.dout.data ? 0 : n - active;
  return {.flops = 11 * m * active, .bytes = m * (3 * active + 2 * copied) * size_of(args.pre.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.pre.shape[0]), {&args.pre, &args.dout, &args.dpre});
}

namespace reference {
namespace {

double slope(hstu_activation activation, double given) {
  const double x = std::clamp(given, -700.0, 700.0);  // where slopes are 0 or 1; NaN passes
  if (activation == HSTU_ACTIVATION_SILU) return sigmoid(x) * (1 + x * sigmoid(-x));
  const double pi = std::acos(-1.0);
  if (activation == HSTU_ACTIVATION_GELU)
    return std::erfc(-x / std::sqrt(2.0)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
  const double root = std::sqrt(2 / pi), t = root * (x + 0.044715 * x * x * x);
  return sigmoid(2 * t) + 2 * x * sigmoid(2 * t) * sigmoid(-2 * t) * root * (1 + 3 * 0.044715 * x * x);
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t m = args.pre.shape[0], n = args.pre.shape[1];
  const Output out(args.dpre, exact);
  parallel_for(m, 50.0 * static_cast<double>(m) * static_cast<double>(n), [&](int64_t row) {
    std::vector<double> pre(static_cast<size_t>(n)), dout(pre);
    load(args.pre, row * args.pre.stride[0], n, pre.data());
    load(args.dout, row * args.dout.stride[0], n, dout.data());
    for (size_t i = 0; i < static_cast<size_t>(args.activation_columns); ++i) dout[i] *= slope(args.activation, pre[i]);
    out.write(row, 0, n, dout.data());
  });
}

}  // namespace reference
}  // namespace hstujit
