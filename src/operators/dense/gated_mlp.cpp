// Gated products: facts, checks, key, cost and reference.
#include "operators/dense/gated_mlp.hpp"

#include "operators/dense/product.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_gated_mlp_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating, 2)},
    {"gate", offsetof(Args, gate), TensorRole::input, of_rank(2, kFloating, 2), 0},
    {"up", offsetof(Args, up), TensorRole::input, of_rank(2, kFloating, 2), 0},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating | kFp8)},
    {"out_descale", offsetof(Args, out_descale), TensorRole::input, of_rank(1, kF32).or_absent()}};
constexpr ScalarSlot kScalars[] = {
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords, kMustBeSet},
    {"activate_gate", offsetof(Args, activate_gate), ScalarSlot::Kind::i32},
    {"allow_tf32", offsetof(Args, allow_tf32), ScalarSlot::Kind::i64}};

checks::Tensor check_weight(const char* name, hstu_tensor& t, const checks::Tensor& x, const checks::Tensor& out) {
  const checks::Tensor w = checks::required_any_strides<2>(name, t);
  checks::same_dtype(w, x);
  checks::extent(w, 0, x.t.shape[1], "k = x.shape[1]");
  checks::extent(w, 1, out.t.shape[1], "n = out.shape[1]");
  checks::disjoint(out, w);
  return w;
}

/// The layout that fits both weights.
Operand common(const Operand& gate, const Operand& up) {
  if (gate.along_k != up.along_k || gate.vector == 0 || up.vector == 0) return {};
  return {gate.along_k, std::min(gate.vector, up.vector)};
}

void check_activation(const Args& args) {
  const int activation = checks::code(args.activation);
  if (activation != HSTU_ACTIVATION_SILU && activation != HSTU_ACTIVATION_GELU &&
      activation != HSTU_ACTIVATION_GELU_TANH)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: gated_mlp covers SILU (1), GELU (3) and GELU_TANH (4)",
         activation);
  checks::flag("activate_gate", args.activate_gate);
  checks::flag("allow_tf32", args.allow_tf32);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {gated_mlp::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required_any_strides<2>("x", args.x), out = checks::required<2>("out", args.out);
  checks::floating(x);
  const bool quantised = fp8::stores(out.t.dtype);
  if (!quantised) checks::same_dtype(out, x);
  checks::extent(out, 0, x.t.shape[0], "m = x.shape[0]");
  checks::no_self_overlap(out);
  checks::disjoint(out, x);
  const checks::Tensor gate = check_weight("gate", args.gate, x, out);
  check_weight("up", args.up, x, out);
  if (const auto descale = product_terms::check_descale("out_descale", args.out_descale, out))
    checks::disjoint(out, *descale);
  check_activation(args);
  if (x.t.dtype != HSTU_DTYPE_F32) args.allow_tf32 = 0;
  const Operand x_operand = operand_of(args.x, 1);
  const Operand weights = common(operand_of(args.gate, 0), operand_of(args.up, 0));

  Problem problem{Op::gated_mlp, {}};
  problem[gated_mlp::kDtype] = x.t.dtype;
  problem[gated_mlp::kN] = checks::field(gate, 1);
  problem[gated_mlp::kK] = checks::field(gate, 0);
  problem[gated_mlp::kActivation] = args.activation;
  problem[gated_mlp::kActivateGate] = args.activate_gate;
  problem[gated_mlp::kXTransposed] = !x_operand.along_k;
  problem[gated_mlp::kWeightTransposed] = weights.along_k;
  problem[gated_mlp::kVectorX] = x_operand.vector;
  problem[gated_mlp::kVectorW] = weights.vector;
  problem[gated_mlp::kVectorOut] =
      (quantised ? checks::Vector(16) : checks::Vector(out.t.dtype)).tensor(out.t).elements();
  problem[gated_mlp::kAllowTf32] = args.allow_tf32 != 0;
  problem[gated_mlp::kOutDtype] = quantised ? out.t.dtype : HSTU_DTYPE_NONE;
  problem[gated_mlp::kM] = bucket(x.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.out.shape[1]);
  return {.flops = 4 * m * n * k,
          .bytes = (m * k + 2 * k * n) * size_of(args.x.dtype) + m * n * size_of(args.out.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.out.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> gate = load_matrix(args.gate), up = load_matrix(args.up);
  const ProductResults out({&args.out}, args.out_descale, HSTU_ACTIVATION_NONE, 0, exact);
  for_each_block(m, n, 2 * k, [&](const Block& block) {
    std::vector<double> x(static_cast<size_t>(block.rows * k));
    for (int64_t r = 0; r < block.rows; ++r)
      load_strided(args.x, (block.row + r) * args.x.stride[0], args.x.stride[1], k, x.data() + r * k);
    std::vector<double> gates(static_cast<size_t>(block.rows * block.columns)), ups(gates.size());
    add_product(x.data(), gate.data(), k, n, block, gates.data());
    add_product(x.data(), up.data(), k, n, block, ups.data());
    for (size_t i = 0; i < gates.size(); ++i)
      gates[i] = args.activate_gate ? activate(args.activation, gates[i]) * ups[i]
                                    : gates[i] * activate(args.activation, ups[i]);
    out.write(block, gates.data());
  });
}

}  // namespace reference

}  // namespace hstujit
