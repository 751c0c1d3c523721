// Random problems of the products.
#include "support/gated_args.hpp"
#include "support/random_draw.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;

/// Of weights summed over so many, so that results are of order one.
double deviation(int64_t fan_in) { return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1))); }

/// m, k and n of a product: a reference's worth. Wide results are of short sums.
struct Extents {
  int64_t m, k, n;
  explicit Extents(Draw& d) {
    const bool wide = d.kernel.below(4) == 0;
    n = wide ? d.kernel.up_to(5000) : d.kernel.coin() ? 8 * d.kernel.up_to(48) : d.kernel.up_to(400);
    k = d.kernel.below(12) == 0 ? 0
        : d.kernel.coin()       ? 8 * d.kernel.up_to(wide ? 12 : 60)
                                : d.kernel.up_to(wide ? 100 : 480);
    m = d.in_octave(wide ? 16 : 100);
  }
};

/// Columns of one to four parts of n.
std::vector<int64_t> parts_of(Draw& d, int64_t n, int64_t multiple) {
  std::vector<int64_t> parts;
  const int64_t cuts = d.kernel.seldom() ? d.kernel.up_to(3) : 0;
  for (int64_t cut = 0; cut < cuts; ++cut) {
    const int64_t room = (n - 1) / multiple - (cuts - 1 - cut);
    if (room < 1) continue;
    parts.push_back(multiple * d.kernel.up_to(std::max<int64_t>(room / 2, 1)));
    n -= parts.back();
  }
  parts.push_back(n);
  return parts;
}

/// Results in these parts, apart from each other.
template <class Args>
void set_parts(Draw& d, hstu_dtype dtype, int64_t m, const std::vector<int64_t>& parts, Args& args) {
  hstu_tensor* const all[] = {&args.out, &args.out1, &args.out2, &args.out3};
  for (size_t i = 0; i < parts.size(); ++i) *all[i] = d.matrix(dtype, m, parts[i], Contents::poison);
}

/// Whether a line of one of them stands for all of its lines: their roundings to TF32 are the same in each term of a
/// sum and do not cancel, as tolerances of TF32 suppose.
bool repeats(std::initializer_list<const hstu_tensor*> operands) {
  return std::any_of(operands.begin(), operands.end(), [](const hstu_tensor* t) { return t->stride[0] == 0; });
}

void draw_addmm(Draw& d) {
  using Args = hstu_addmm_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating();
  const hstu_dtype row = d.each({kF32, kNone, kBf16, kF16});
  const auto residual = d.each({Residual::absent, Residual::apart, Residual::in_place});
  const bool in_place = residual == Residual::in_place, quantises = !in_place && d.kernel.seldom();
  const Extents e(d);
  args.x = d.ordered_matrix(dtype, e.m, e.k);
  args.w = d.ordered_matrix(dtype, e.k, e.n, deviation(e.k));
  const hstu_dtype stored = quantises ? d.kernel.fp8() : dtype;
  if (in_place)
    args.residual = args.out = d.matrix(dtype, e.m, e.n);
  else
    set_parts(d, stored, e.m, parts_of(d, e.n, 1), args);
  if (row != kNone) args.bias = d.strided_vector(row, e.n);
  if (residual == Residual::apart) args.residual = d.ordered_matrix(dtype, e.m, e.n);
  if (quantises) args.out_descale = d.memory.floats({0.02f});
  args.activation =
      d.kernel.any({HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH});
  if (args.activation != HSTU_ACTIVATION_NONE && d.kernel.seldom()) args.activation_columns = d.kernel.below(e.n + 1);
  args.allow_tf32 = dtype == kF32 && !quantises && d.kernel.coin() && !repeats({&args.x, &args.w});
  Tolerance tolerance = args.allow_tf32 ? Tolerance{2e-3, 1 << 14} : rounded_once(dtype);
  if (quantises) tolerance = rounded_to_fp8(stored);
  d.correct(args, {&Args::out, &Args::out1, &Args::out2, &Args::out3}, tolerance);
}

void draw_gated_mlp(Draw& d) {
  using Args = hstu_gated_mlp_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating();
  args.activation = d.each({HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH});
  args.activate_gate = d.each({0, 1});
  const bool quantises = d.kernel.seldom();
  const Extents e(d);
  args.x = d.ordered_matrix(dtype, e.m, e.k);
  args.gate = d.ordered_matrix(dtype, e.k, e.n, deviation(e.k));
  args.up = d.ordered_matrix(dtype, e.k, e.n, deviation(e.k));
  const hstu_dtype stored = quantises ? d.kernel.fp8() : dtype;
  args.out = d.matrix(stored, e.m, e.n, Contents::poison);
  if (quantises) args.out_descale = d.memory.floats({0.01f});
  args.allow_tf32 = dtype == kF32 && !quantises && d.kernel.coin() && !repeats({&args.x, &args.gate, &args.up});
  // An error of a factor shows in the product as large as the other factor is.
  // In TF32 each of the two factors is a sum of products of operands that were rounded to 11 bits.
  Tolerance tolerance = args.allow_tf32 ? Tolerance{2e-3, 1 << 15} : rounded_once(dtype);
  if (!args.allow_tf32 && dtype == kF32) tolerance.ulps_of_row *= 4;
  if (quantises) tolerance = rounded_to_fp8(stored);
  d.correct(args, {&Args::out}, tolerance);
}

/// Aligned to 16 bytes, as kernels that fuse norm and product want it: gaps of 8 elements, if any.
hstu_tensor aligned(Draw& d, hstu_dtype dtype, int64_t rows, int64_t columns, Contents contents = Contents::normal,
                    double deviation = 1) {
  const Layout layout{.row_padding = 8 * d.problem.below(3), .shift = 8 * d.problem.below(3)};
  const hstu_tensor t = d.memory.poison(dtype, {rows, columns}, layout);
  if (d.runs() && contents != Contents::poison) randomise(t, d.memory.random_numbers(), 0, deviation);
  return t;
}
hstu_tensor aligned_weight(Draw& d, hstu_dtype dtype, int64_t rows, int64_t columns, bool transposed_too) {
  return transposed_too ? transposed(aligned(d, dtype, columns, rows, Contents::normal, deviation(rows)))
                        : aligned(d, dtype, rows, columns, Contents::normal, deviation(rows));
}

void draw_gated_addmm(Draw& d) {
  using Args = hstu_gated_addmm_args;
  Args args{};
  const hstu_dtype dtype = d.each({kBf16, kF16}), weight = d.each({kF32, dtype});
  const bool transposed_too = d.each({0, 1}) != 0;
  const auto residual = d.each({Residual::absent, Residual::apart, Residual::in_place});
  const int64_t dim = 64 * d.kernel.up_to(5), n = 128 * d.kernel.up_to(2), m = d.in_octave(40);
  args.u = aligned(d, dtype, m, dim), args.attn = aligned(d, dtype, m, dim);
  args.moments = d.runs() ? moments_of(d.memory, args.attn, d.kernel.any<int64_t>({1, 2, 4, 8, 16}))
                          : d.memory.poison(kF32, {m, d.kernel.any<int64_t>({1, 2, 4, 8, 16}), 2});
  set_norm(d.memory, weight, args);
  args.w = aligned_weight(d, dtype, 3 * dim, n, transposed_too);
  args.out = aligned(d, dtype, m, n, residual == Residual::in_place ? Contents::normal : Contents::poison);
  if (residual == Residual::in_place) args.residual = args.out;
  if (residual == Residual::apart) args.residual = aligned(d, dtype, m, n);
  // g is rounded as the oracle has it, but from f32: now and then to a neighbour.
  Tolerance tolerance = rounded_once(dtype);
  tolerance.ulps_of_row = 0.35;
  d.correct(args, {&Args::out}, tolerance);
}

void draw_norm_addmm(Draw& d) {
  using Args = hstu_norm_addmm_args;
  Args args{};
  const hstu_dtype dtype = d.each({kBf16, kF16}), weight = d.each({kF32, dtype});
  const hstu_dtype row = d.each({kF32, kNone, kBf16, kF16});
  const int64_t k = 64 * d.kernel.up_to(8), n = d.kernel.coin() ? 8 * d.kernel.up_to(40) : 64 * d.kernel.up_to(6);
  const int64_t m = d.in_octave(90);
  args.x = aligned(d, dtype, m, k);
  args.norm_weight = d.memory.random(weight, {k}, {}, 1, 0.3),
  args.norm_bias = d.memory.random(weight, {k}, {}, 0, 0.3);
  args.w = aligned_weight(d, dtype, k, n, d.kernel.coin());
  if (row != kNone) args.bias = d.strided_vector(row, n);
  hstu_tensor* const all[] = {&args.out, &args.out1, &args.out2, &args.out3};
  const std::vector<int64_t> parts = parts_of(d, n, 64);
  for (size_t i = 0; i < parts.size(); ++i) *all[i] = aligned(d, dtype, m, parts[i], Contents::poison);
  args.activation = d.kernel.any({HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU});
  if (args.activation != HSTU_ACTIVATION_NONE) args.activation_columns = d.kernel.below(n + 1);
  // Normed rows are rounded as the oracle has them, but from f32: now and then to a neighbour.
  Tolerance tolerance = rounded_once(dtype);
  tolerance.ulps_of_row = 0.35;
  d.correct(args, {&Args::out, &Args::out1, &Args::out2, &Args::out3}, tolerance);
}

}  // namespace

std::span<const RandomOperator> random_dense() {
  static constexpr RandomOperator kAll[] = {{Op::addmm, draw_addmm},
                                            {Op::gated_mlp, draw_gated_mlp},
                                            {Op::gated_addmm, draw_gated_addmm},
                                            {Op::norm_addmm, draw_norm_addmm}};
  return kAll;
}

}  // namespace hstujit::test
