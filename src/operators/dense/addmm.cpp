// The matrix product with bias, residual and activation: facts, checks, key, cost and reference.
#include "operators/dense/addmm.hpp"

#include "operators/dense/product.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"
#include "tile/addmm_terms.h"

namespace hstujit {
namespace {

using Args = hstu_addmm_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating, 2)},
    {"w", offsetof(Args, w), TensorRole::input, of_rank(2, kFloating, 2), 0},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating, 1).or_absent()},
    {"residual", offsetof(Args, residual), TensorRole::input, of_rank(2, kFloating, 2).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating | kFp8)},
    {"out1", offsetof(Args, out1), TensorRole::output, of_rank(2, kFloating | kFp8).or_absent()},
    {"out2", offsetof(Args, out2), TensorRole::output, of_rank(2, kFloating | kFp8).or_absent()},
    {"out3", offsetof(Args, out3), TensorRole::output, of_rank(2, kFloating | kFp8).or_absent()},
    {"out_descale", offsetof(Args, out_descale), TensorRole::input, of_rank(1, kF32).or_absent()}};
constexpr ScalarSlot kScalars[] = {
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
    {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64, {}, kFollows},
    {"allow_tf32", offsetof(Args, allow_tf32), ScalarSlot::Kind::i32}};

constexpr product_terms::Names kNames = {
    "addmm", {"out", "out1", "out2", "out3"}, "out_descale", "m = x.shape[0]", "n = w.shape[1]"};

}  // namespace

OperatorFacts facts_of(const Args*) { return {addmm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required_any_strides<2>("x", args.x);
  const checks::Tensor w = checks::required_any_strides<2>("w", args.w);
  checks::floating(x);
  checks::same_dtype(w, x);
  checks::extent(w, 0, x.t.shape[1], "k = x.shape[1]");
  const checks::Tensor out = checks::required<2>("out", args.out);
  const bool quantised = fp8::stores(args.out.dtype);
  if (!quantised) checks::same_dtype(out, x);
  hstu_tensor* const parts[] = {&args.out, &args.out1, &args.out2, &args.out3};
  product_terms::Outputs outputs(kNames, out, parts, x.t.shape[0], w.t.shape[1]);
  outputs.disjoint_from(x);
  outputs.disjoint_from(w);
  const Operand x_operand = operand_of(args.x, 1), w_operand = operand_of(args.w, 0);
  const int32_t row = outputs.check_bias(args.bias, true), residual = outputs.check_residual(args.residual, true);
  if (quantised && residual) checks::same_dtype({"residual", args.residual}, x);
  outputs.check_descale(args.out_descale);
  const bool gathered = (row && args.bias.stride[0] != 1) || (residual && args.residual.stride[1] != 1);
  product_terms::check_activation(kNames, product_terms::Activations::silu_and_gelu, args.activation,
                                  args.activation_columns, w.t.shape[1]);
  checks::flag("allow_tf32", args.allow_tf32);
  if (x.t.dtype != HSTU_DTYPE_F32) args.allow_tf32 = 0;
  if (residual && !gathered)
    outputs.vector.tensor(args.residual).lines(args.residual.shape[0], args.residual.stride[0], args.residual.shape[1]);

  Problem problem{Op::addmm, {}};
  problem[addmm::kDtype] = x.t.dtype;
  problem[addmm::kN] = checks::field(w, 1);
  problem[addmm::kK] = checks::field(w, 0);
  problem[addmm::kBias] = row | residual;
  problem[addmm::kBiasDtype] = row ? args.bias.dtype : args.residual.dtype;
  problem[addmm::kActivation] = args.activation;
  const bool activated = args.activation != HSTU_ACTIVATION_NONE;
  problem[addmm::kActColumns] = activated ? static_cast<int32_t>(args.activation_columns) : 0;
  problem[addmm::kXTransposed] = !x_operand.along_k;
  problem[addmm::kWeightTransposed] = w_operand.along_k;
  problem[addmm::kVectorX] = x_operand.vector;
  problem[addmm::kVectorW] = w_operand.vector;
  problem[addmm::kVectorZ] = outputs.vector.elements();
  problem[addmm::kGatherY] = gathered;
  problem[addmm::kAllowTf32] = args.allow_tf32;
  problem[addmm::kSplit] = outputs.split;
  problem[addmm::kZDtype] = quantised ? args.out.dtype : HSTU_DTYPE_NONE;
  problem[addmm::kM] = bucket(x.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.w.shape[1]);
  return {.flops = 2 * m * n * k,
          .bytes = (m * k + k * n) * size_of(args.x.dtype) + m * n * size_of(args.out.dtype) +
                   n * size_of(args.bias.dtype) + m * n * size_of(args.residual.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.x, &args.out, &args.out1, &args.out2, &args.out3});
  if (present(args.residual)) edge_case::shorten_rows(rows, {&args.residual});
}

namespace reference {
namespace {

void compute(const Args& args, const std::vector<double>& w, const Block& block, const ProductResults& out) {
  const int64_t k = args.x.shape[1], n = args.w.shape[1];
  std::vector<double> x(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns));
  for (int64_t r = 0; r < block.rows; ++r)
    load_strided(args.x, (block.row + r) * args.x.stride[0], args.x.stride[1], k, x.data() + r * k);
  load_added(args.bias, args.residual, block, sums.data());
  add_product(x.data(), w.data(), k, n, block, sums.data());
  out.write(block, sums.data());
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.w.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_matrix(args.w);
  const ProductResults out({&args.out, &args.out1, &args.out2, &args.out3}, args.out_descale, args.activation,
                           args.activation_columns, exact);
  for_each_block(m, n, k, [&](const Block& block) { compute(args, w, block, out); });
}

}  // namespace reference

}  // namespace hstujit
