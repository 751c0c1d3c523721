// Gated products on the device against the oracle: types, layouts, ragged rows, parts of statistics, residuals in
// place.
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
  bool w_transposed = false;
  double mean = 0;  ///< of attn, in its deviations
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}x{}x{}_p{}_r{}_t{}_m{}", name_of(c.dtype), name_of(c.weight_dtype), c.m, c.dim, c.n,
                     c.parts, static_cast<int>(c.residual), int{c.w_transposed}, static_cast<int>(c.mean));
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_gated_addmm_args args_of(HostMemory& memory, const Case& c) {
  hstu_gated_addmm_args args{};
  args.struct_size = sizeof args;
  // As the layer has them: columns of the rows that a projection would read.
  args.u = memory.random(c.dtype, {c.m, c.dim}, {.row_padding = 2 * c.dim});
  args.attn = memory.random(c.dtype, {c.m, c.dim}, {.row_padding = 2 * c.dim}, c.mean);
  args.moments = test::moments_of(memory, args.attn, c.parts);
  test::set_norm(memory, c.weight_dtype, args);
  const double size = 1 / std::sqrt(3.0 * static_cast<double>(c.dim));
  args.w = c.w_transposed ? test::transposed(memory.random(c.dtype, {c.n, 3 * c.dim}, {}, 0, size))
                          : memory.random(c.dtype, {3 * c.dim, c.n}, {}, 0, size);
  test::set_result(memory, c.n, c.residual, args);
  return args;
}

class GatedAddmmSweep : public testing::TestWithParam<Case> {};

TEST_P(GatedAddmmSweep, EqualsTheOracle) {
  HostMemory memory;
  const hstu_gated_addmm_args args = args_of(memory, GetParam());
  HSTU_NEEDS_DEVICE_THAT_TAKES(args);
  // g is rounded as the oracle has it, but from f32: now and then to a neighbour.
  test::Tolerance tolerance = test::rounded_once(GetParam().dtype);
  tolerance.ulps_of_row = 0.35;
  test::expect_correct(memory, args, &hstu_gated_addmm_args::out, tolerance);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const hstu_dtype dtype : {kBf16, kF16})
    for (const hstu_dtype weight : {dtype, kF32})
      for (const bool transposed : {false, true})
        for (const int64_t n : {256, 384})
          all.push_back({dtype, weight, 333, 128, n, 2, Residual::in_place, transposed});
  for (const Residual residual : {Residual::absent, Residual::apart, Residual::in_place})
    for (const int64_t m : {1, 63, 128, 129, 1000})
      all.push_back({kBf16, kBf16, m, 192, m % 2 ? 512 : 128, 3, residual});
  for (const int64_t dim : {64, 256, 512, 1024})
    for (const int64_t parts : {int64_t{1}, int64_t{4}, int64_t{5}, int64_t{8}, int64_t{16}})
      if (dim % parts == 0) all.push_back({kBf16, kF32, 200, dim, 256, parts});
  all.push_back({kBf16, kBf16, 20011, 128, 512, 4});  // more tiles than blocks
  all.push_back({kF16, kF16, 20011, 128, 1024, 4, Residual::absent, true});
  all.push_back({kBf16, kBf16, 40011, 64, 128, 1});
  all.push_back({kF16, kF16, 300, 256, 256, 4, Residual::in_place, false, 100});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, GatedAddmmSweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

}  // namespace
}  // namespace hstujit
