// The gated product, an HSTU layer's output stage: facts, checks, key, cost and reference. The statistics of its norm
// are given.
#include "operators/dense/gated_addmm.hpp"

#include "operators/dense/gated_stage.hpp"
#include "operators/dense/product.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

using Args = hstu_gated_addmm_args;

constexpr TensorSlot kTensors[] = {
    {"attn", offsetof(Args, attn), TensorRole::input, of_rank(2, kFloating)},
    {"u", offsetof(Args, u), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Args, moments), TensorRole::input, of_rank(3, kF32, 0)},
    {"weight", offsetof(Args, weight), TensorRole::input, of_rank(1, kFloating)},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating)},
    {"w", offsetof(Args, w), TensorRole::input, of_rank(2, kFloating, 2), 0},
    {"residual", offsetof(Args, residual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f64, {}, {1e-5f}}};

void check_w(Args& args, const gated_stage::Stage& stage) {
  const checks::Tensor w = checks::required_any_strides<2>("w", args.w);
  checks::same_dtype(w, stage.attn);
  checks::extent(w, 0, stage.k, "3 * attn.shape[1]");
  checks::extent(w, 1, stage.out.t.shape[1], "n = out.shape[1]");
  checks::disjoint(stage.out, w);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {gated_addmm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const gated_stage::Stage stage = gated_stage::check(gated_stage::operands_of(args));
  check_w(args, stage);
  const Operand w = operand_of(args.w, 0);

  Problem problem{Op::gated_addmm, {}};
  problem[gated_addmm::kDtype] = stage.attn.t.dtype;
  problem[gated_addmm::kWeightDtype] = stage.weight.t.dtype;
  problem[gated_addmm::kDim] = checks::field(stage.attn, 1);
  problem[gated_addmm::kN] = checks::field(stage.out, 1);
  problem[gated_addmm::kParts] = static_cast<int32_t>(args.moments.shape[1]);
  problem[gated_addmm::kResidual] = stage.residual;
  problem[gated_addmm::kWeightTransposed] = w.along_k;
  problem[gated_addmm::kVector] = stage.vector;
  problem[gated_addmm::kVectorW] = w.vector;
  problem[gated_addmm::kM] = bucket(stage.attn.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double weights = static_cast<double>(args.w.shape[0]) * static_cast<double>(args.w.shape[1]);
  return {.flops = 2 * static_cast<double>(args.attn.shape[0]) * weights,
          .bytes = weights * size_of(args.w.dtype) +
                   gated_stage::bytes_of(args.attn, args.moments, args.weight, args.residual, args.out)};
}

void make_edge_case(Args& args, Integers&) { gated_stage::make_edge_case(gated_stage::operands_of(args)); }

namespace reference {

void run(const Args& args, double* const* exact) {
  const int64_t m = args.out.shape[0], n = args.out.shape[1], dim = args.attn.shape[1], k = 3 * dim;
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_matrix(args.w);
  const GatedRows gated(args);
  const Output out(args.out, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> rows(static_cast<size_t>(block.rows * k));
    std::vector<double> sums(static_cast<size_t>(block.rows * block.columns), 0.0);
    for (int64_t r = 0; r < block.rows; ++r) {
      gated.make(block.row + r, rows.data() + r * k);
      round_to(args.attn.dtype, rows.data() + r * k + 2 * dim, dim);
      if (present(args.residual))
        load(args.residual, (block.row + r) * args.residual.stride[0] + block.column, block.columns,
             sums.data() + r * block.columns);
    }
    add_product(rows.data(), w.data(), k, n, block, sums.data());
    for (int64_t r = 0; r < block.rows; ++r)
      out.write(block.row + r, block.column, block.columns, sums.data() + r * block.columns);
  });
}

}  // namespace reference

}  // namespace hstujit
