// Statistics of attention's rows on the device: those of the values that out holds, and out what it is without them.
#include "support/attention_cases.hpp"

#include <cmath>

namespace hstujit {
namespace {

using test::AttentionCase;
using test::HostMemory;

class AttentionMoments : public testing::TestWithParam<AttentionCase> {};

/// Pairs of `moments` against values of `out`, part by part; NaN where out still is.
void expect_of(const hstu_tensor& out, const hstu_tensor& moments) {
  const std::vector<double> values = test::values(out), got = test::values(moments);
  const auto length = static_cast<size_t>(out.shape[2]);
  ASSERT_EQ(got.size(), values.size() / length * 2);
  for (size_t part = 0; part < got.size() / 2; ++part) {
    const double* x = values.data() + part * length;
    double mean = 0, squares = 0, size = 0;
    for (size_t i = 0; i < length; ++i) mean += x[i] / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) squares += (x[i] - mean) * (x[i] - mean), size += x[i] * x[i];
    if (std::isnan(mean)) {
      EXPECT_TRUE(std::isnan(got[2 * part]) && std::isnan(got[2 * part + 1])) << "part " << part << " was written";
      continue;
    }
    EXPECT_NEAR(got[2 * part], mean, 1e-6 * std::sqrt(size)) << "part " << part;
    // Sums of squares from a pivot, which is a value of the row: of the size of its deviations.
    EXPECT_NEAR(got[2 * part + 1], squares, 1e-4 * squares + 1e-9 * size) << "part " << part;
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(AttentionMoments, AreThoseOfWhatOutHolds) {
  HostMemory memory;
  hstu_attention_args args = test::attention_args(memory, GetParam());
  args.moments = memory.poison(HSTU_DTYPE_F32, {args.out.shape[0], args.out.shape[1], 2});
  HSTU_NEEDS_DEVICE_THAT_TAKES(args);
  test::DeviceCall call(memory, Op::attention, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
  EXPECT_TRUE(test::close(call.after(args.out), test::exact_result(args, &hstu_attention_args::out),
                          test::attention_tolerance(GetParam().dtype)));
  std::vector<hstu_tensor> written{args.out, args.moments};
  if (present(args.lse)) written.push_back(args.lse);
  EXPECT_TRUE(call.wrote_only(written));
  expect_of(call.after(args.out), call.after(args.moments));
}

std::vector<AttentionCase> cases() {
  std::vector<AttentionCase> all;
  for (const hstu_dtype dtype : {HSTU_DTYPE_BF16, HSTU_DTYPE_F16})
    for (const int64_t dim : {8, 24, 64, 128, 200, 256})
      all.push_back({.dtype = dtype, .heads = 3, .dim_qk = dim, .dim_v = dim, .lengths = test::ragged()});
  all.push_back({.dim_v = 40,
                 .lengths = test::ragged(),
                 .contextual = 5,
                 .max_attn_len = 30,
                 .min_full = 9,
                 .targets = test::Targets::many,
                 .scale = test::Scale::rows});
  all.push_back({.heads = 4,
                 .dim_qk = 128,
                 .dim_v = 128,
                 .kv_heads = 2,
                 .lengths = {700, 0, 300},
                 .softmax_heads = 2,
                 .lse = true});
  all.push_back({.dim_qk = 128,
                 .dim_v = 128,
                 .lengths = {700, 0, 513},
                 .contextual = 20,
                 .max_attn_len = 64,
                 .targets = test::Targets::some});
  all.push_back({.heads = 2, .lengths = {700, 0, 300, 1}, .placement = test::Placement::in_buffer});
  all.push_back(
      {.heads = 2, .lengths = {90, 400}, .mask = HSTU_MASK_LOCAL, .softmax_heads = 2, .left = 30, .right = 4});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, AttentionMoments, testing::ValuesIn(cases()),
                         [](const auto& c) { return test::name_of_case(c.param); });

}  // namespace
}  // namespace hstujit
