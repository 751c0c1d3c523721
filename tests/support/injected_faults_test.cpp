// Comparisons with the oracle must see one wrong element: right results pass, and with any single element replaced by
// another plausible value they do not.
#include "support/oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3,
                     kE5m2 = HSTU_DTYPE_E5M2;
constexpr int64_t kRows = 8, kColumns = 64;

/// Unrounded results of a bell shape, and a tensor that holds them rounded.
struct Right {
  HostMemory memory;
  hstu_tensor t;
  Exact exact;

  explicit Right(hstu_dtype dtype, double size = 1) : t(memory.poison(dtype, {kRows, kColumns})) {
    const hstu_tensor wide = memory.random(kF32, {kRows, kColumns}, {}, 0, size);
    exact = values(wide);
    for (size_t i = 0; i < exact.size(); ++i) set(i, exact[i]);
  }
  void set(size_t i, double value) const { store(t, static_cast<int64_t>(i), 1, &value); }
};

/// Of all elements and wrong values that differ from the right one, the part that `tolerance` lets pass.
double passing(const Right& right, const Tolerance& tolerance) {
  EXPECT_TRUE(close(right.t, right.exact, tolerance));
  const Exact stored = values(right.t);
  int tried = 0, passed = 0;
  for (size_t i = 0; i < stored.size(); ++i) {
    const double next = stored[(i + 1) % stored.size()], below = stored[(i + kColumns) % stored.size()];
    for (const double wrong : {next, below, 0.0, -stored[i], 2 * stored[i], stored[i] / 2}) {
      if (wrong == stored[i]) continue;
      right.set(i, wrong);
      ++tried;
      passed += static_cast<bool>(close(right.t, right.exact, tolerance));
    }
    right.set(i, stored[i]);
  }
  EXPECT_GT(tried, 5 * kRows * kColumns);
  return static_cast<double>(passed) / tried;
}

TEST(InjectedFaults, NoneOfASumPasses) {
  for (const hstu_dtype dtype : {kF32, kF16, kBf16}) EXPECT_EQ(passing(Right(dtype), rounded_sum(dtype)), 0) << dtype;
}

TEST(InjectedFaults, ThoseThatPassAreSmallerThanTheErrorsOfSpecialFunctions) {
  EXPECT_EQ(passing(Right(kF32), rounded_once(kF32)), 0);
  EXPECT_LT(passing(Right(kF16), rounded_once(kF16)), 1e-3);
  EXPECT_LT(passing(Right(kBf16), rounded_once(kBf16)), 3e-3);
  EXPECT_LT(passing(Right(kBf16), rounded_once_of_few(kBf16)), 1.5e-2);
}

TEST(InjectedFaults, ThoseThatPassInAttentionAreSmallerThanTheRoundingOfItsProbabilities) {
  EXPECT_LT(passing(Right(kF32), attention_tolerance(kF32)), 1e-3);
  EXPECT_LT(passing(Right(kF16), attention_tolerance(kF16)), 1e-2);
  EXPECT_LT(passing(Right(kBf16), attention_tolerance(kBf16)), 5e-2);
}

/// Scaled as operators do, so that the greatest is near the largest number there is.
TEST(InjectedFaults, NoneOfFp8Passes) {
  for (const hstu_dtype fp8 : {kE4m3, kE5m2}) {
    const Right right(fp8, fp8 == kE4m3 ? 100 : 12000);
    EXPECT_LT(passing(right, rounded_to_fp8(fp8)), 1e-2) << "a neighbour where the value lies between both";
    Tolerance sums = rounded_to_fp8(fp8);
    sums.ulps_of_row = 400;
    EXPECT_LT(passing(right, sums), 1e-3) << fp8;
  }
}

/// Of one element: a step to the wrong side, where the value does not lie between both.
TEST(InjectedFaults, OneStepIsSeenInEveryType) {
  for (const hstu_dtype dtype : {kF16, kBf16, kE4m3, kE5m2}) {
    const bool fp8 = dtype == kE4m3 || dtype == kE5m2;
    const Right right(dtype, fp8 ? 30 : 1);
    const Tolerance tolerance = fp8 ? rounded_to_fp8(dtype) : rounded_sum(dtype);
    const size_t i =
        static_cast<size_t>(std::max_element(right.exact.begin(), right.exact.end()) - right.exact.begin());
    const double stored = values(right.t)[i], step = step_at(dtype, stored);
    right.set(i, stored + (stored >= right.exact[i] ? step : -step));
    EXPECT_FALSE(close(right.t, right.exact, tolerance)) << dtype;
  }
}

/// Each of its own type: what FP8 may be wrong by is 3,750 times what its scales may.
TEST(InjectedFaults, AScaleOfANeighbourPassesNowhere) {
  HostMemory memory;
  const hstu_tensor scales = memory.random(kF32, {kRows}, {}, 0.03, 0.003);
  const Exact exact = values(scales);
  const Tolerance tolerance{4e-6, 100};
  EXPECT_TRUE(close(scales, exact, tolerance));
  for (int64_t i = 0; i < kRows; ++i) {
    const double wrong = exact[static_cast<size_t>((i + 1) % kRows)];
    store(scales, i, 1, &wrong);
    EXPECT_FALSE(close(scales, exact, tolerance)) << i;
    store(scales, i, 1, &exact[static_cast<size_t>(i)]);
  }
}

/// A bias of one batch element is one row of the oracle, of which 19 elements were all that was compared.
TEST(InjectedFaults, OneOfAMillionIsSeen) {
  HostMemory memory;
  const hstu_tensor t = memory.random(kBf16, {1, 2, 512, 512});
  const Exact exact = values(t);
  for (const int64_t i : {int64_t{0}, int64_t{77'777}, int64_t{2 * 512 * 512 - 1}}) {
    const double right = exact[static_cast<size_t>(i)], wrong = -right;
    store(t, i, 1, &wrong);
    EXPECT_FALSE(close(t, exact, rounded_sum(kBf16))) << i;
    store(t, i, 1, &right);
  }
}

TEST(InjectedFaults, TheWorstElementIsNamedWithItsValuesAndBound) {
  const Right right(kBf16);
  const Exact stored = values(right.t);
  right.set(3 * kColumns + 5, stored[3 * kColumns + 5] + 0.25);
  right.set(6 * kColumns + 7, 40);
  const std::string text = close(right.t, right.exact, rounded_once(kBf16)).message();
  EXPECT_NE(text.find("element [6, 7] is 40, exactly "), std::string::npos) << text;
  for (const char* part : {"off by ", "allowed ", "steps of the element", "ulps of its row", "2 of 512 elements"})
    EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
}

TEST(InjectedFaults, CopiesAreExactInFp8Too) {
  for (const hstu_dtype fp8 : {kE4m3, kE5m2}) {
    Right right(fp8);
    right.exact = values(right.t);
    const double least = step_at(fp8, 0);
    right.set(0, 0), right.exact[0] = 0;
    EXPECT_TRUE(close(right.t, right.exact, {0, 0})) << fp8;
    right.set(0, least);
    EXPECT_FALSE(close(right.t, right.exact, {0, 0})) << fp8;
  }
}

TEST(StepAt, IsTheDistanceOfNeighbours) {
  EXPECT_EQ(step_at(kF32, 1), 0x1p-23);
  EXPECT_EQ(step_at(kBf16, 1.99), 0x1p-7);
  EXPECT_EQ(step_at(kF16, -2), 0x1p-9);
  EXPECT_EQ(step_at(kF16, 0), 0x1p-24);
  EXPECT_EQ(step_at(kF16, 1e-6), 0x1p-24);
  EXPECT_EQ(step_at(kE4m3, 448), 32);
  EXPECT_EQ(step_at(kE4m3, 0), 0x1p-9);
  EXPECT_EQ(step_at(kE5m2, 3), 0.5);
  EXPECT_EQ(step_at(kE5m2, 0), 0x1p-16);
}

}  // namespace
}  // namespace hstujit::test
