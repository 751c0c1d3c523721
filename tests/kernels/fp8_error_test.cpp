// What FP8 costs in exactness, in two parts: quantisation, the distance of the quantised operands' product in f64 from
// the operands' own; and accumulation, the distance of the device's product from the quantised operands' in f64, of
// which rounding the results is a part. Printed and bounded, on normal data and on data of one sign.
#include "support/device_call.hpp"
#include "support/element.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::Exact;
using test::HostMemory;

constexpr int64_t kM = 256, kN = 192, kK = 4096;

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
Quantised quantised(HostMemory& memory, const hstu_tensor& x) {
  hstu_quantize_fp8_args args{};
  args.struct_size = sizeof args;
  args.x = x;
  args.q = memory.poison(HSTU_DTYPE_E4M3, {x.shape[0], x.shape[1]});
  args.descale = memory.poison(HSTU_DTYPE_F32, {x.shape[0]});
  args.scaling = HSTU_FP8_ROW;
  prepare(args);
  reference::run(args, nullptr);
  return {args.q, args.descale};
}

struct Errors {
  double quantisation, accumulation, rounding;
};

/// mean 0: normal data; far from it: data of one sign.
Errors errors_of(double mean) {
  HostMemory memory;
  const hstu_tensor x = memory.random(HSTU_DTYPE_F32, {kM, kK}, {}, mean),
                    w = memory.random(HSTU_DTYPE_F32, {kN, kK}, {}, mean);
  const Quantised a = quantised(memory, x), b = quantised(memory, w);
  hstu_addmm_args own{};
  own.struct_size = sizeof own;
  own.x = x;
  own.w = test::transposed(w);
  own.z = memory.poison(HSTU_DTYPE_F32, {kM, kN});
  hstu_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  args.a = a.q;
  args.b = b.q;
  args.a_descale = a.descale;
  args.b_descale = b.descale;
  args.a_scaling = args.b_scaling = HSTU_FP8_ROW;
  args.out = memory.poison(HSTU_DTYPE_F16, {kM, kN});
  test::DeviceCall call(memory, Op::fp8_gemm, &args);
  EXPECT_EQ(call.status(), HSTU_OK) << call.error();
  const Exact exact = test::exact_result(args, &hstu_fp8_gemm_args::out);
  hstu_tensor rounded = memory.poison(HSTU_DTYPE_F16, {kM, kN});
  store(rounded, 0, kM * kN, exact.data());
  return {distance(exact, test::exact_result(own, &hstu_addmm_args::z)),
          distance(elements_of(call.after(args.out)), exact), distance(elements_of(rounded), exact)};
}

TEST(Fp8Error, IsQuantisationNotAccumulation) {
  HSTU_NEEDS_RESULTS();
  for (const double mean : {0.0, 3.0}) {
    const Errors e = errors_of(mean);
    fmt::print(
        "e4m3, scales of rows, k = {}, mean {}: quantisation {:.2e}, accumulation and rounding {:.2e} (rounding "
        "to f16 alone {:.2e})\n",
        kK, mean, e.quantisation, e.accumulation, e.rounding);
    EXPECT_LT(e.quantisation, 5e-2);
    EXPECT_LT(e.accumulation, e.rounding + (mean == 0 ? 2e-4 : 1e-3));  // sums of 128 k keep 14 bits
  }
}

}  // namespace
}  // namespace hstujit
