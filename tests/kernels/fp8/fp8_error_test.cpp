// What FP8 costs in exactness, in two parts: quantisation, the distance of the quantised operands' product in f64 from
// the operands' own; and accumulation, the distance of the device's product from the quantised operands' in f64, of
// which rounding the results is a part. Printed and bounded, on normal data and on data of one sign, with scales of
// rows and of 128 columns and blocks, by sums of 128 k and of all of k.
#include "support/device_call.hpp"
#include "support/element.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::Exact;
using test::HostMemory;

constexpr int64_t kM = 256, kN = 192;

struct Case {
  const char* scales;
  hstu_fp8_scaling a, b;
  int64_t k;
  double mean;  ///< 0: normal data; far from it: data of one sign
};

double distance(const Exact& a, const Exact& b) {
  double errors = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    errors += (a[i] - b[i]) * (a[i] - b[i]);
    squares += b[i] * b[i];
  }
  return std::sqrt(errors / squares);
}

Exact elements_of(const hstu_tensor& t) {
  Exact all(static_cast<size_t>(t.shape[0] * t.shape[1]));
  for (int64_t row = 0; row < t.shape[0]; ++row) load(t, row * t.stride[0], t.shape[1], all.data() + row * t.shape[1]);
  return all;
}

/// q and descale of x, as the library's reference makes them.
struct Quantised {
  hstu_tensor q, descale;
};
Quantised quantised(HostMemory& memory, const hstu_tensor& x, hstu_fp8_scaling scaling) {
  const int64_t rows = x.shape[0], columns = x.shape[1], across = (columns + 127) / 128;
  hstu_quantize_fp8_args args{};
  args.struct_size = sizeof args;
  args.x = x;
  args.q = memory.poison(HSTU_DTYPE_E4M3, {rows, columns});
  args.descale = scaling == HSTU_FP8_ROW     ? memory.poison(HSTU_DTYPE_F32, {rows})
                 : scaling == HSTU_FP8_GROUP ? memory.poison(HSTU_DTYPE_F32, {rows, across})
                                             : memory.poison(HSTU_DTYPE_F32, {(rows + 127) / 128, across});
  args.scaling = scaling;
  prepare(args);
  reference::run(args, nullptr);
  return {args.q, args.descale};
}

hstu_fp8_gemm_args product(HostMemory& memory, const Case& c, const hstu_tensor& x, const hstu_tensor& w) {
  const Quantised a = quantised(memory, x, c.a), b = quantised(memory, w, c.b);
  hstu_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  args.x = a.q;
  args.w = b.q;
  args.x_descale = a.descale;
  args.w_descale = b.descale;
  args.x_scaling = c.a;
  args.w_scaling = c.b;
  args.out = memory.poison(HSTU_DTYPE_F16, {kM, kN});
  return args;
}

Exact unquantised_product(HostMemory& memory, const hstu_tensor& x, const hstu_tensor& w) {
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = x;
  args.w = test::transposed(w);
  args.out = memory.poison(HSTU_DTYPE_F32, {kM, kN});
  return test::exact_result(args, &hstu_addmm_args::out);
}

double rounding_of(HostMemory& memory, const Exact& exact) {
  const hstu_tensor rounded = memory.poison(HSTU_DTYPE_F16, {kM, kN});
  store(rounded, 0, kM * kN, exact.data());
  return distance(elements_of(rounded), exact);
}

/// Of sums that keep 14 bits and are cut: sums of 128 k whatever k is, or of all of k.
double accumulation_bound(const Case& c, bool fast) {
  if (!fast) return c.mean == 0 ? 2e-4 : 1e-3;
  if (c.k == 512) return c.mean == 0 ? 7e-4 : 2e-2;
  return c.mean == 0 ? 2.6e-3 : 0.15;
}

class Fp8Error : public testing::TestWithParam<Case> {};

TEST_P(Fp8Error, IsQuantisationNotAccumulation) {
  HSTU_NEEDS_RESULTS();
  const Case& c = GetParam();
  HostMemory memory;
  const hstu_tensor x = memory.random(HSTU_DTYPE_F32, {kM, c.k}, {}, c.mean),
                    w = memory.random(HSTU_DTYPE_F32, {kN, c.k}, {}, c.mean);
  hstu_fp8_gemm_args args = product(memory, c, x, w);
  const Exact exact = test::exact_result(args, &hstu_fp8_gemm_args::out);
  const double quantisation = distance(exact, unquantised_product(memory, x, w));
  const double rounding = rounding_of(memory, exact);
  fmt::print("e4m3, scales of {}, k = {}, mean {}: quantisation {:.2e}, rounding to f16 {:.2e}\n", c.scales, c.k,
             c.mean, quantisation, rounding);
  EXPECT_LT(quantisation, c.mean == 0 ? 4e-2 : 5e-3);
  for (const bool fast : {false, true}) {
    if (fast && c.a != HSTU_FP8_ROW) continue;  // the same sums
    args.accumulation = fast ? HSTU_FP8_ACCUMULATE_FAST : HSTU_FP8_ACCUMULATE_128;
    test::DeviceCall call(memory, Op::fp8_gemm, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    const double accumulation = distance(elements_of(call.after(args.out)), exact);
    fmt::print("  {} sums: accumulation and rounding {:.2e}\n", fast ? "fast" : "exact", accumulation);
    EXPECT_LT(accumulation, rounding + accumulation_bound(c, fast));
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t k : {512, 4096})
    for (const double mean : {0.0, 3.0}) {
      all.push_back({"rows", HSTU_FP8_ROW, HSTU_FP8_ROW, k, mean});
      all.push_back({"blocks", HSTU_FP8_GROUP, HSTU_FP8_BLOCK, k, mean});
    }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Products, Fp8Error, testing::ValuesIn(cases()), [](const auto& c) {
  return fmt::format("{}_k{}_{}", c.param.scales, c.param.k, c.param.mean == 0 ? "normal" : "one_sign");
});

}  // namespace
}  // namespace hstujit
