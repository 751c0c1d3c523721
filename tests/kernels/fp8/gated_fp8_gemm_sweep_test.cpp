// Gated products of FP8 on the device against the oracle, which quantises alike: types, ragged rows, parts of
// statistics, residuals in place, rows whose greatest values are where no scale expects them.
#include "support/device_call.hpp"
#include "support/gated_args.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Residual;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

struct Case {
  hstu_dtype dtype, weight_dtype;
  int64_t m, dim, n, parts;
  Residual residual = Residual::in_place;
  double mean = 0;  ///< of attn, in its deviations
  bool odd_rows = false;
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}x{}x{}_p{}_r{}_m{}{}", name_of(c.dtype), name_of(c.weight_dtype), c.m, c.dim, c.n,
                     c.parts, static_cast<int>(c.residual), static_cast<int>(c.mean), c.odd_rows ? "_odd" : "");
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

/// Of each eight rows one of zeros, one much smaller, one much greater, and two with a value of u that is greater than
/// all others: in the first columns, and in the last ones, where the scale of the row must grow.
void make_odd(const hstu_tensor& u, const hstu_tensor& attn) {
  const int64_t dim = u.shape[1];
  for (int64_t row = 0; row < u.shape[0]; ++row) {
    std::vector<double> x(static_cast<size_t>(dim));
    const auto scaled = [&](const hstu_tensor& t, double by) {
      load(t, row * t.stride[0], dim, x.data());
      for (double& e : x) e *= by;
      store(t, row * t.stride[0], dim, x.data());
    };
    const auto with = [&](int64_t column, double value) { store(u, row * u.stride[0] + column, 1, &value); };
    if (row % 8 == 1) scaled(u, 0), scaled(attn, 0);
    if (row % 8 == 2) scaled(u, 1e-3), scaled(attn, 1e-3);
    if (row % 8 == 3) scaled(u, 200), scaled(attn, 200);
    if (row % 8 == 4) with(3, 60);
    if (row % 8 == 5) with(dim - 5, -300);
  }
}

hstu_gated_fp8_gemm_args args_of(HostMemory& memory, const Case& c) {
  hstu_gated_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  // As the layer has them: u columns of the projection's rows.
  args.u = memory.random(c.dtype, {c.m, c.dim}, {.row_padding = 3 * c.dim});
  args.attn = memory.random(c.dtype, {c.m, c.dim}, {}, c.mean);
  if (c.odd_rows) make_odd(args.u, args.attn);
  args.moments = test::moments_of(memory, args.attn, c.parts);
  test::set_norm(memory, c.weight_dtype, args);
  args.w = memory.random(HSTU_DTYPE_E4M3, {c.n, 3 * c.dim}, {}, 0, 16);
  args.w_descale = memory.random(kF32, {c.n}, {}, 1, 0.1);
  auto* const descale = static_cast<float*>(args.w_descale.data);
  for (int64_t i = 0; i < c.n; ++i) descale[i] /= 16 * std::sqrt(3.0f * static_cast<float>(c.dim));
  test::set_result(memory, c.n, c.residual, args);
  return args;
}

class GatedFp8GemmSweep : public testing::TestWithParam<Case> {};

TEST_P(GatedFp8GemmSweep, EqualsTheOracle) {
  HostMemory memory;
  const Case& c = GetParam();
  const hstu_gated_fp8_gemm_args args = args_of(memory, c);
  HSTU_NEEDS_DEVICE_THAT_TAKES(args);
  // Fast sums, six deviations of what fp8.h says of them; and g from f32, which is now and then quantised to a
  // neighbour: a twelfth of one term of many. One great term has much of its row's sum, and is cut like all of it.
  const double sums = 3.3e-4 * std::sqrt(3 * static_cast<double>(c.dim) / 512) * (c.odd_rows ? 4 : 1);
  test::Tolerance tolerance = test::rounded_once(c.dtype);
  tolerance.frobenius += 2 * sums;
  tolerance.ulps_of_row += (6 * sums + 4e-3) / test::ulp(c.dtype);
  test::expect_correct(memory, args, &hstu_gated_fp8_gemm_args::out, tolerance);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const hstu_dtype dtype : {kBf16, kF16})
    for (const hstu_dtype weight : {dtype, kF32})
      for (const Residual residual : {Residual::absent, Residual::apart, Residual::in_place})
        for (const bool odd : {false, true}) all.push_back({dtype, weight, 333, 512, 256, 4, residual, 0, odd});
  for (const Residual residual : {Residual::absent, Residual::apart, Residual::in_place})
    for (const int64_t m : {1, 63, 128, 129, 1000})
      all.push_back({kBf16, kBf16, m, 384, m % 2 ? 512 : 256, 2, residual});
  for (const int64_t dim : {384, 640, 1024})
    for (const int64_t parts : {2, 8, 16}) all.push_back({kBf16, kF32, 200, dim, 256, parts});
  all.push_back({kBf16, kBf16, 20011, 384, 512, 4});  // more tiles than blocks
  all.push_back({kF16, kF16, 10011, 512, 1024, 4, Residual::absent});
  all.push_back({kBf16, kBf16, 10011, 512, 512, 4, Residual::in_place, 0, true});
  all.push_back({kF16, kF16, 300, 512, 256, 4, Residual::in_place, 100});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, GatedFp8GemmSweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

}  // namespace
}  // namespace hstujit
