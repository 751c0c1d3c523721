// Random problems of the quantisers and of products of FP8.
#include "support/gated_args.hpp"
#include "support/random_draw.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;
constexpr auto kTensor = HSTU_FP8_TENSOR, kRow = HSTU_FP8_ROW, kGroup = HSTU_FP8_GROUP, kBlock = HSTU_FP8_BLOCK;

/// Of a matrix, to be written or about `mean`; those of groups and blocks that are read seldom transposed.
hstu_tensor descales(Draw& d, hstu_fp8_scaling scaling, int64_t rows, int64_t columns, bool written, double mean = 1) {
  const Contents contents = written ? Contents::poison : Contents::normal;
  if (scaling == kTensor || scaling == kRow)
    return d.vector(kF32, scaling == kTensor ? 1 : rows, contents, mean, mean / 5);
  const int64_t down = scaling == kBlock ? (rows + 127) / 128 : rows, across = (columns + 127) / 128;
  if (!written && d.kernel.seldom()) return transposed(d.matrix(kF32, across, down, contents, mean, mean / 5));
  return d.matrix(kF32, down, across, contents, mean, mean / 5);
}

/// Rows of a quantiser: of blocks, more than one's 128.
int64_t rows_of(Draw& d, hstu_fp8_scaling scaling, int64_t columns) {
  return scaling == kBlock ? d.problem.up_to(columns > 1000 ? 40 : 300) : d.rows(columns);
}

void draw_amax(Draw& d) {
  hstu_fp8_amax_args args{};
  const hstu_dtype dtype = d.each_floating();
  const int64_t columns = d.width();
  args.x = d.matrix(dtype, d.rows(columns), columns);
  args.amax = d.vector(kF32, HSTU_FP8_AMAX_PARTS, Contents::poison);
  d.correct<hstu_fp8_amax_args>(args, {{&hstu_fp8_amax_args::amax, {0, 0}}});
}

void draw_quantize(Draw& d) {
  using Args = hstu_quantize_fp8_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating();
  args.scaling = d.each({kRow, kGroup, kBlock, kTensor});
  const hstu_dtype fp8 = d.each({HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2});
  const int64_t columns = d.width(), rows = rows_of(d, args.scaling, columns);
  args.x = d.matrix(dtype, rows, columns);
  args.q = d.matrix(fp8, rows, columns, Contents::poison);
  args.descale = descales(d, args.scaling, rows, columns, true);
  const bool given = args.scaling == kTensor && d.kernel.coin();
  if (given) args.static_descale = d.memory.floats({0.0123f});
  if (args.scaling == kTensor && !given) args.amax = d.vector(kF32, HSTU_FP8_AMAX_PARTS);
  args.power_of_two = !given && d.kernel.seldom();
  if (!given && d.problem.below(4) == 0) args.amax_bound = 1.5f;
  d.correct<Args>(args, {{&Args::q, {0, 0}}, {&Args::descale, {0, 0}}});
}

void draw_dequantize(Draw& d) {
  using Args = hstu_dequantize_fp8_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating();
  const hstu_fp8_scaling scaling = d.each({kRow, kGroup, kBlock, kTensor});
  args.scaling = scaling;
  const int64_t columns = d.width(), rows = rows_of(d, scaling, columns);
  args.q = d.matrix(d.each({HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2}), rows, columns);
  args.descale = descales(d, scaling, rows, columns, false);
  args.x = d.matrix(dtype, rows, columns, Contents::poison);
  d.correct(args, {&Args::x}, rounded_once(dtype));
}

/// What hstu_fp8_gemm's results may be wrong by: tests/kernels/fp8/fp8_gemm_sweep_test.cpp.
Tolerance tolerance_of(const hstu_fp8_gemm_args& args) {
  const auto dtype = static_cast<hstu_dtype>(args.out.dtype);
  if (dtype == HSTU_DTYPE_E4M3 || dtype == HSTU_DTYPE_E5M2) return rounded_to_fp8(dtype);
  if (dtype == kF32) return {2e-5, 300};
  Tolerance tolerance = rounded_once(dtype);
  tolerance.ulps_of_row += 1.13 * 6 * 1.2e-4 / ulp(dtype);  // six deviations
  return tolerance;
}

/// Results of n columns in one to four parts.
void set_parts(Draw& d, hstu_dtype dtype, int64_t m, int64_t n, hstu_fp8_gemm_args& args) {
  hstu_tensor* const all[] = {&args.out, &args.out1, &args.out2, &args.out3};
  const int64_t cuts = d.kernel.seldom() ? d.kernel.up_to(3) : 0;
  for (int64_t i = 0; i < cuts && n > 64; ++i) {
    const int64_t columns = d.kernel.coin() ? 64 : d.kernel.up_to(60);
    *all[i] = d.matrix(dtype, m, columns, Contents::poison);
    n -= columns;
    if (i + 1 == cuts || n <= 64) {
      *all[i + 1] = d.matrix(dtype, m, n, Contents::poison);
      return;
    }
  }
  args.out = d.matrix(dtype, m, n, Contents::poison);
}

void draw_gemm(Draw& d) {
  using Args = hstu_fp8_gemm_args;
  Args args{};
  args.x_scaling = d.each({kTensor, kRow, kGroup, kBlock}), args.w_scaling = d.each({kTensor, kRow, kGroup, kBlock});
  const hstu_dtype dtype = d.kernel.any({kBf16, kF16, kF32, HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2});
  const bool quantises = dtype == HSTU_DTYPE_E4M3 || dtype == HSTU_DTYPE_E5M2;
  const bool row = d.kernel.coin(), residual = d.kernel.coin();
  const bool wide = d.kernel.below(5) == 0;
  const int64_t n = wide ? d.kernel.up_to(5000) : d.kernel.coin() ? 16 * d.kernel.up_to(20) : d.kernel.up_to(330);
  const int64_t k = d.kernel.coin() ? 16 * d.kernel.up_to(wide ? 10 : 30) : d.kernel.up_to(wide ? 140 : 460);
  const int64_t m = d.in_octave(wide ? 12 : 130);
  args.x = d.matrix(d.kernel.fp8(), m, k);
  args.w = d.matrix(d.kernel.fp8(), n, k, Contents::normal, 0, 1 / std::sqrt(static_cast<double>(k)));
  args.x_descale = descales(d, args.x_scaling, m, k, false);
  args.w_descale = descales(d, args.w_scaling, n, k, false);
  if (row) args.bias = d.vector(d.kernel.any({kF32, kF32, kBf16, kF16}), n);
  if (residual) args.residual = d.matrix(quantises ? d.kernel.floating() : dtype, m, n);
  set_parts(d, dtype, m, n, args);
  if (quantises) args.out_descale = d.memory.floats({0.02f});
  args.activation =
      d.kernel.any({HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH});
  if (args.activation != HSTU_ACTIVATION_NONE && d.kernel.seldom()) args.activation_columns = d.kernel.below(n + 1);
  d.correct(args, {&Args::out, &Args::out1, &Args::out2, &Args::out3}, tolerance_of(args));
}

void draw_gated_gemm(Draw& d) {
  using Args = hstu_gated_fp8_gemm_args;
  Args args{};
  const hstu_dtype dtype = d.each({kBf16, kF16}), weight = d.each({kF32, dtype});
  const auto residual = d.each({Residual::absent, Residual::apart, Residual::in_place});
  const int64_t dim = 128 * d.kernel.any<int64_t>({3, 4, 5, 6}), n = 256, m = d.in_octave(24);
  const int64_t parts = d.kernel.any<int64_t>({2, 4, 8, 16});
  args.u = d.memory.random(dtype, {m, dim}, {.row_padding = 8 * d.problem.below(3)});
  args.attn = d.memory.random(dtype, {m, dim}, {.row_padding = 8 * d.problem.below(3)});
  args.moments = moments_of(d.memory, args.attn, parts);
  set_norm(d.memory, weight, args);
  args.w = d.memory.poison(HSTU_DTYPE_E4M3, {n, 3 * dim}, {.row_padding = 16 * d.problem.below(2)});
  if (d.runs()) randomise(args.w, d.memory.random_numbers(), 0, 16);
  const double size = 1 / (16 * std::sqrt(3.0 * static_cast<double>(dim)));
  args.w_descale = d.memory.random(kF32, {n}, {}, size, size / 10);
  set_result(d.memory, n, residual, args);
  // Fast sums, six deviations of what fp8.h says of them; and g from f32, now and then quantised to a neighbour.
  const double sums = 3.3e-4 * std::sqrt(3 * static_cast<double>(dim) / 512);
  Tolerance tolerance = rounded_once(dtype);
  tolerance.frobenius += 2 * sums;
  tolerance.ulps_of_row += (6 * sums + 4e-3) / ulp(dtype);
  d.correct(args, {&Args::out}, tolerance);
}

}  // namespace

std::span<const RandomOperator> random_fp8() {
  static constexpr RandomOperator kAll[] = {{Op::fp8_amax, draw_amax},
                                            {Op::quantize_fp8, draw_quantize},
                                            {Op::dequantize_fp8, draw_dequantize},
                                            {Op::fp8_gemm, draw_gemm},
                                            {Op::gated_fp8_gemm, draw_gated_gemm}};
  return kAll;
}

}  // namespace hstujit::test
