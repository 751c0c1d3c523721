// The product of FP8 matrices with bias, residual and activation: facts, checks, key, cost and reference. The reference
// descales first.
#include "operators/fp8/fp8_gemm.hpp"

#include "operators/dense/product.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"
#include "tile/addmm_terms.h"

#include <vector>

namespace hstujit {
namespace {

using Args = hstu_fp8_gemm_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFp8)},
    {"w", offsetof(Args, w), TensorRole::input, of_rank(2, kFp8), 1},
    {"x_descale", offsetof(Args, x_descale), TensorRole::input, of_rank(1, kF32).or_rank(2, 2)},
    {"w_descale", offsetof(Args, w_descale), TensorRole::input, of_rank(1, kF32).or_rank(2, 2)},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"residual", offsetof(Args, residual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating | kFp8)},
    {"out1", offsetof(Args, out1), TensorRole::output, of_rank(2, kFloating | kFp8).or_absent()},
    {"out2", offsetof(Args, out2), TensorRole::output, of_rank(2, kFloating | kFp8).or_absent()},
    {"out3", offsetof(Args, out3), TensorRole::output, of_rank(2, kFloating | kFp8).or_absent()},
    {"out_descale", offsetof(Args, out_descale), TensorRole::input, of_rank(1, kF32).or_absent()}};
constexpr std::string_view kAccumulationWords[] = {"128", "fast"};
constexpr ScalarSlot kScalars[] = {
    {"x_scaling", offsetof(Args, x_scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"w_scaling", offsetof(Args, w_scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"accumulation", offsetof(Args, accumulation), ScalarSlot::Kind::i32, kAccumulationWords},
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
    {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64, {}, kFollows}};
constexpr product_terms::Names kNames = {
    "fp8_gemm", {"out", "out1", "out2", "out3"}, "out_descale", "m = x.shape[0]", "n = w.shape[0]"};

void check_accumulation(const hstu_fp8_accumulation& accumulation) {
  const int value = checks::code(accumulation);
  if (value < HSTU_FP8_ACCUMULATE_128 || value > HSTU_FP8_ACCUMULATE_FAST)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "accumulation = {}: use ACCUMULATE_128 (0) or ACCUMULATE_FAST (1)", value);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {fp8_gemm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<2>("x", args.x), w = checks::required<2>("w", args.w);
  const checks::Tensor out = checks::required<2>("out", args.out);
  fp8::is_fp8(x);
  fp8::is_fp8(w);
  if (!fp8::stores(args.out.dtype)) checks::floating(out);
  checks::extent(w, 1, x.t.shape[1], "k = x.shape[1]");
  hstu_tensor* const parts[] = {&args.out, &args.out1, &args.out2, &args.out3};
  product_terms::Outputs outputs(kNames, out, parts, x.t.shape[0], w.t.shape[0]);
  outputs.disjoint_from(x);
  outputs.disjoint_from(w);
  fp8::check_scaling("x_scaling", args.x_scaling);
  fp8::check_scaling("w_scaling", args.w_scaling);
  check_accumulation(args.accumulation);
  outputs.disjoint_from(fp8::check_descale("x_descale", args.x_descale, args.x_scaling, x.t.shape[0], x.t.shape[1]));
  outputs.disjoint_from(fp8::check_descale("w_descale", args.w_descale, args.w_scaling, w.t.shape[0], w.t.shape[1]));
  const int32_t row = outputs.check_bias(args.bias, false), residual = outputs.check_residual(args.residual, false);
  outputs.check_descale(args.out_descale);
  product_terms::check_activation(kNames, product_terms::Activations::silu_and_gelu, args.activation,
                                  args.activation_columns, w.t.shape[0]);
  if (residual)
    outputs.vector.tensor(args.residual).lines(args.residual.shape[0], args.residual.stride[0], args.residual.shape[1]);

  Problem problem{Op::fp8_gemm, {}};
  problem[fp8_gemm::kDtype] = out.t.dtype;
  problem[fp8_gemm::kDtypeA] = x.t.dtype;
  problem[fp8_gemm::kDtypeB] = w.t.dtype;
  problem[fp8_gemm::kN] = checks::field(w, 0);
  problem[fp8_gemm::kK] = checks::field(w, 1);
  problem[fp8_gemm::kScalingA] = args.x_scaling;
  problem[fp8_gemm::kScalingB] = args.w_scaling;
  problem[fp8_gemm::kBias] = row | residual;
  problem[fp8_gemm::kBiasDtype] = row ? args.bias.dtype : args.residual.dtype;
  problem[fp8_gemm::kActivation] = args.activation;
  const bool activated = args.activation != HSTU_ACTIVATION_NONE;
  problem[fp8_gemm::kActColumns] = activated ? static_cast<int32_t>(args.activation_columns) : 0;
  problem[fp8_gemm::kVectorA] = fp8::bytes_an_access(x.t);
  problem[fp8_gemm::kVectorB] = fp8::bytes_an_access(w.t);
  problem[fp8_gemm::kVectorOut] = outputs.vector.elements();
  problem[fp8_gemm::kFast] = args.accumulation == HSTU_FP8_ACCUMULATE_FAST && !fp8::changes_along_k(args.x_scaling) &&
                             !fp8::changes_along_k(args.w_scaling);
  problem[fp8_gemm::kSplit] = outputs.split;
  if (row && residual && fp8::stores(args.out.dtype)) problem[fp8_gemm::kResidualDtype] = args.residual.dtype;
  problem[fp8_gemm::kM] = bucket(x.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double m = static_cast<double>(args.x.shape[0]), k = static_cast<double>(args.x.shape[1]);
  const double n = static_cast<double>(args.w.shape[0]);
  const double scales = fp8::descale_bytes(args.x_descale) + fp8::descale_bytes(args.w_descale);
  return {.flops = 2 * m * n * k,
          .bytes = m * k + k * n + m * n * (size_of(args.out.dtype) + size_of(args.residual.dtype)) +
                   n * size_of(args.bias.dtype) + scales};
}

void make_edge_case(Args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.x, &args.out, &args.out1, &args.out2, &args.out3});
  if (present(args.residual)) edge_case::shorten_rows(rows, {&args.residual});
  fp8::shorten_descale(args.x_descale, args.x_scaling, rows);
}

namespace reference {
namespace {

/// A row of a matrix times its scales.
void load_descaled(const hstu_tensor& t, const hstu_tensor& descale, hstu_fp8_scaling scaling, int64_t row,
                   double* out) {
  load(t, row * t.stride[0], t.shape[1], out);
  for (int64_t i = 0; i < t.shape[1]; ++i) out[i] *= descale_at(descale, scaling, row, i);
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.w.shape[0];
  if (m == 0 || n == 0) return;
  std::vector<double> b(static_cast<size_t>(k * n)), row(static_cast<size_t>(k));  // b as [k, n]
  for (int64_t j = 0; j < n; ++j) {
    load_descaled(args.w, args.w_descale, args.w_scaling, j, row.data());
    for (int64_t i = 0; i < k; ++i) b[static_cast<size_t>(i * n + j)] = row[static_cast<size_t>(i)];
  }
  const ProductResults out({&args.out, &args.out1, &args.out2, &args.out3}, args.out_descale, args.activation,
                           args.activation_columns, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> a(static_cast<size_t>(block.rows * k));
    std::vector<double> sums(static_cast<size_t>(block.rows * block.columns));
    for (int64_t r = 0; r < block.rows; ++r)
      load_descaled(args.x, args.x_descale, args.x_scaling, block.row + r, a.data() + r * k);
    load_added(args.bias, args.residual, block, sums.data());
    add_product(a.data(), b.data(), k, n, block, sums.data());
    out.write(block, sums.data());
  });
}

}  // namespace reference

}  // namespace hstujit
