// The gated product of FP8, an HSTU layer's output stage: facts, checks, key, cost and reference. The reference is norm
// by given statistics, multiplication, quantisation, product, residual.
#include "operators/fp8/gated_fp8_gemm.hpp"

#include "operators/dense/gated_stage.hpp"
#include "operators/dense/product.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_gated_fp8_gemm_args;

constexpr TensorSlot kTensors[] = {
    {"attn", offsetof(Args, attn), TensorRole::input, of_rank(2, kFloating)},
    {"u", offsetof(Args, u), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Args, moments), TensorRole::input, of_rank(3, kF32, 0)},
    {"weight", offsetof(Args, weight), TensorRole::input, of_rank(1, kFloating)},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating)},
    {"w", offsetof(Args, w), TensorRole::input, of_rank(2, kE4m3), 1},
    {"w_descale", offsetof(Args, w_descale), TensorRole::input, of_rank(1, kF32)},
    {"residual", offsetof(Args, residual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f64, {}, {1e-5f}}};

void check_w(Args& args, const gated_stage::Stage& stage) {
  const checks::Tensor w = checks::required<2>("w", args.w);
  if (w.t.dtype != HSTU_DTYPE_E4M3) checks::refuse_dtype(w, "it must be e4m3");
  checks::extent(w, 0, stage.out.t.shape[1], "n = out.shape[1]");
  checks::extent(w, 1, stage.k, "3 * attn.shape[1]");
  checks::disjoint(stage.out, w);
  checks::disjoint(stage.out, fp8::check_descale("w_descale", args.w_descale, HSTU_FP8_ROW, w.t.shape[0], stage.k));
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {gated_fp8_gemm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const gated_stage::Stage stage = gated_stage::check(gated_stage::operands_of(args));
  check_w(args, stage);

  Problem problem{Op::gated_fp8_gemm, {}};
  problem[gated_fp8_gemm::kDtype] = stage.attn.t.dtype;
  problem[gated_fp8_gemm::kWeightDtype] = stage.weight.t.dtype;
  problem[gated_fp8_gemm::kDim] = checks::field(stage.attn, 1);
  problem[gated_fp8_gemm::kN] = checks::field(stage.out, 1);
  problem[gated_fp8_gemm::kParts] = static_cast<int32_t>(args.moments.shape[1]);
  problem[gated_fp8_gemm::kResidual] = stage.residual;
  problem[gated_fp8_gemm::kVector] = stage.vector;
  problem[gated_fp8_gemm::kVectorW] = fp8::bytes_an_access(args.w);
  problem[gated_fp8_gemm::kM] = bucket(stage.attn.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double weights = static_cast<double>(args.w.shape[0]) * static_cast<double>(args.w.shape[1]);
  return {.flops = 2 * static_cast<double>(args.attn.shape[0]) * weights,
          .bytes = weights + fp8::descale_bytes(args.w_descale) +
                   gated_stage::bytes_of(args.attn, args.moments, args.weight, args.residual, args.out)};
}

void make_edge_case(Args& args, Integers&) { gated_stage::make_edge_case(gated_stage::operands_of(args)); }

namespace reference {
namespace {

constexpr int64_t kSliceColumns = 128;  // of u, by which the scale of a row is found and followed

/// Which scale a row of [u | attn | g] has: see hstu_gated_fp8_gemm. As kernels have it, to the power of two.
class RowScales {
 public:
  explicit RowScales(const Args& args)
      : dim_(args.attn.shape[1]), deviations_(deviations_of(dim_)), gain_(gain_of(args)) {}

  /// Quantises a row in place: descaled values of E4M3.
  void quantise(double* row, const RowStatistics& s) const {
    const double attn = std::fabs(s.mean) + deviations_ / s.scale;
    double multiplier = 0;
    for (int64_t first = 0; first < dim_; first += kSliceColumns) {
      const int64_t end = std::min(dim_, first + kSliceColumns);
      double amax = 0;
      for (int64_t i = first; i < end; ++i) amax = std::max(amax, std::fabs(row[i]));
      if (first == 0 || amax * gain_ * multiplier > kMost)
        multiplier = multiplier_of(std::max(kHeadroom * amax * gain_, attn));
      for (int64_t segment = 0; segment < 3; ++segment)
        for (int64_t i = first; i < end; ++i) {
          double& value = row[segment * dim_ + i];
          value = E4m3::widen(E4m3::round(static_cast<double>(static_cast<float>(value * multiplier)))) / multiplier;
        }
    }
  }

 private:
  static constexpr double kMost = 256, kHeadroom = 4;

  /// No value is further from the mean, in standard deviations: a whole number, the root of the values or above it.
  static double deviations_of(int64_t dim) {
    for (const int deviations : {16, 24, 32})
      if (dim <= deviations * deviations) return deviations;
    return std::ceil(std::sqrt(static_cast<double>(dim)));
  }
  /// The largest |g| or |u| that |u| = 1 can lead to.
  double gain_of(const Args& args) const {
    double weight = 0, bias = 0;
    for (const double w : load_vector(args.weight, dim_, 1)) weight = std::max(weight, std::fabs(w));
    for (const double b : load_vector(args.bias, dim_, 0)) bias = std::max(bias, std::fabs(b));
    return std::max(1.0, weight * deviations_ + bias);
  }
  /// So that what is at most `bound` becomes less than kMost.
  static double multiplier_of(double bound) {
    constexpr int kLeastExponent = -119, kMostExponent = 7;
    return std::ldexp(1.0, kMostExponent - std::max(std::ilogb(bound), kLeastExponent));
  }

  const int64_t dim_;
  const double deviations_, gain_;
};

/// [3 dim, n], descaled.
std::vector<double> weights_of(const Args& args) {
  const int64_t n = args.w.shape[0], k = args.w.shape[1];
  const std::vector<double> descale = load_vector(args.w_descale, n, 1), stored = load_matrix(args.w);
  std::vector<double> w(stored.size());
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i)
      w[static_cast<size_t>(i * n + j)] = stored[static_cast<size_t>(j * k + i)] * descale[static_cast<size_t>(j)];
  return w;
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t m = args.out.shape[0], n = args.out.shape[1], k = args.w.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> w = weights_of(args);
  const GatedRows gated(args);
  const RowScales scales(args);
  const Output out(args.out, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> rows(static_cast<size_t>(block.rows * k));
    std::vector<double> sums(static_cast<size_t>(block.rows * block.columns), 0.0);
    for (int64_t r = 0; r < block.rows; ++r) {
      gated.make(block.row + r, rows.data() + r * k);
      scales.quantise(rows.data() + r * k, gated.statistics(block.row + r));
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
