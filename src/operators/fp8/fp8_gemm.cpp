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

constexpr TensorSlot kTensors[] = {{"a", offsetof(Args, a), TensorRole::input},
                                   {"b", offsetof(Args, b), TensorRole::input, 1},
                                   {"a_descale", offsetof(Args, a_descale), TensorRole::input},
                                   {"b_descale", offsetof(Args, b_descale), TensorRole::input},
                                   {"bias", offsetof(Args, bias), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output},
                                   {"out1", offsetof(Args, out1), TensorRole::output},
                                   {"out2", offsetof(Args, out2), TensorRole::output},
                                   {"out3", offsetof(Args, out3), TensorRole::output},
                                   {"out_descale", offsetof(Args, out_descale), TensorRole::input}};
constexpr std::string_view kAccumulationWords[] = {"128", "fast"};
constexpr ScalarSlot kScalars[] = {
    {"a_scaling", offsetof(Args, a_scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"b_scaling", offsetof(Args, b_scaling), ScalarSlot::Kind::i32, kFp8ScalingWords},
    {"accumulation", offsetof(Args, accumulation), ScalarSlot::Kind::i32, kAccumulationWords},
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
    {"activation_columns", offsetof(Args, activation_columns), ScalarSlot::Kind::i64}};
constexpr product_terms::Names kNames = {"fp8_gemm",    "bias",           {"out", "out1", "out2", "out3"},
                                         "out_descale", "m = a.shape[0]", "n = b.shape[0]"};

void check_accumulation(const hstu_fp8_accumulation& accumulation) {
  const int value = checks::code(accumulation);
  if (value < HSTU_FP8_ACCUMULATE_128 || value > HSTU_FP8_ACCUMULATE_FAST)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "accumulation = {}: use ACCUMULATE_128 (0) or ACCUMULATE_FAST (1)", value);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {fp8_gemm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor a = checks::required<2>("a", args.a), b = checks::required<2>("b", args.b);
  const checks::Tensor out = checks::required<2>("out", args.out);
  fp8::is_fp8(a);
  fp8::is_fp8(b);
  if (!fp8::stores(args.out.dtype)) checks::floating(out);
  checks::extent(b, 1, a.t.shape[1], "k = a.shape[1]");
  hstu_tensor* const parts[] = {&args.out, &args.out1, &args.out2, &args.out3};
  product_terms::Outputs outputs(kNames, out, parts, a.t.shape[0], b.t.shape[0]);
  outputs.disjoint_from(a);
  outputs.disjoint_from(b);
  fp8::check_scaling("a_scaling", args.a_scaling);
  fp8::check_scaling("b_scaling", args.b_scaling);
  check_accumulation(args.accumulation);
  outputs.disjoint_from(fp8::check_descale("a_descale", args.a_descale, args.a_scaling, a.t.shape[0], a.t.shape[1]));
  outputs.disjoint_from(fp8::check_descale("b_descale", args.b_descale, args.b_scaling, b.t.shape[0], b.t.shape[1]));
  const int32_t bias = outputs.check_bias(args.bias, false);
  outputs.check_descale(args.out_descale);
  product_terms::check_activation(kNames, product_terms::Activations::silu_and_gelu, args.activation,
                                  args.activation_columns, b.t.shape[0]);
  if (bias == hstu::kResidual)
    outputs.vector.tensor(args.bias).lines(args.bias.shape[0], args.bias.stride[0], args.bias.shape[1]);

  Problem problem{Op::fp8_gemm, {}};
  problem[fp8_gemm::kDtype] = out.t.dtype;
  problem[fp8_gemm::kDtypeA] = a.t.dtype;
  problem[fp8_gemm::kDtypeB] = b.t.dtype;
  problem[fp8_gemm::kN] = checks::field(b, 0);
  problem[fp8_gemm::kK] = checks::field(b, 1);
  problem[fp8_gemm::kScalingA] = args.a_scaling;
  problem[fp8_gemm::kScalingB] = args.b_scaling;
  problem[fp8_gemm::kBias] = bias;
  problem[fp8_gemm::kBiasDtype] = args.bias.dtype;
  problem[fp8_gemm::kActivation] = args.activation;
  const bool activated = args.activation != HSTU_ACTIVATION_NONE;
  problem[fp8_gemm::kActColumns] = activated ? static_cast<int32_t>(args.activation_columns) : 0;
  problem[fp8_gemm::kVectorA] = fp8::bytes_an_access(a.t);
  problem[fp8_gemm::kVectorB] = fp8::bytes_an_access(b.t);
  problem[fp8_gemm::kVectorOut] = outputs.vector.elements();
  problem[fp8_gemm::kFast] = args.accumulation == HSTU_FP8_ACCUMULATE_FAST && !fp8::changes_along_k(args.a_scaling) &&
                             !fp8::changes_along_k(args.b_scaling);
  problem[fp8_gemm::kSplit] = outputs.split;
  problem[fp8_gemm::kM] = bucket(a.t.shape[0]);
  return problem;
}

Work work_of(const Args& args) {
  const double m = static_cast<double>(args.a.shape[0]), k = static_cast<double>(args.a.shape[1]);
  const double n = static_cast<double>(args.b.shape[0]), bias_rows = args.bias.rank == 2 ? m : 1;
  const double scales = fp8::descale_bytes(args.a_descale) + fp8::descale_bytes(args.b_descale);
  return {.flops = 2 * m * n * k,
          .bytes = m * k + k * n + m * n * size_of(args.out.dtype) + bias_rows * n * size_of(args.bias.dtype) + scales};
}

void make_edge_case(Args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.a.shape[0]);
  edge_case::shorten_rows(rows, {&args.a, &args.out, &args.out1, &args.out2, &args.out3});
  if (args.bias.rank == 2) edge_case::shorten_rows(rows, {&args.bias});
  fp8::shorten_descale(args.a_descale, args.a_scaling, rows);
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
  const int64_t m = args.a.shape[0], k = args.a.shape[1], n = args.b.shape[0];
  if (m == 0 || n == 0) return;
  std::vector<double> b(static_cast<size_t>(k * n)), row(static_cast<size_t>(k));  // b as [k, n]
  for (int64_t j = 0; j < n; ++j) {
    load_descaled(args.b, args.b_descale, args.b_scaling, j, row.data());
    for (int64_t i = 0; i < k; ++i) b[static_cast<size_t>(i * n + j)] = row[static_cast<size_t>(i)];
  }
  const ProductResults out({&args.out, &args.out1, &args.out2, &args.out3}, args.out_descale, args.activation,
                           args.activation_columns, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> a(static_cast<size_t>(block.rows * k));
    std::vector<double> sums(static_cast<size_t>(block.rows * block.columns));
    for (int64_t r = 0; r < block.rows; ++r)
      load_descaled(args.a, args.a_descale, args.a_scaling, block.row + r, a.data() + r * k);
    load_added(args.bias, block, sums.data());
    add_product(a.data(), b.data(), k, n, block, sums.data());
    out.write(block, sums.data());
  });
}

}  // namespace reference

}  // namespace hstujit
