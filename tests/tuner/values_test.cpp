// Contents of buffers in host memory.
#include "tuner/values.hpp"

#include "support/element.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(Values, RandomElementsHaveTheStatedMeanAndDeviation) {
  double sum = 0, squares = 0;
  for (const double v : decode(random_elements("b", {HSTU_DTYPE_F32, 1.0f, 0.5f}, 100'000, 3), HSTU_DTYPE_F32)) {
    sum += v;
    squares += v * v;
  }
  const double mean = sum / 1e5;
  EXPECT_NEAR(mean, 1, 0.01);
  EXPECT_NEAR(squares / 1e5 - mean * mean, 0.25, 0.01);
}

TEST(Values, RandomElementsDependOnSeedAndName) {
  const RandomElements what{HSTU_DTYPE_BF16};
  EXPECT_EQ(random_elements("a", what, 64, 1), random_elements("a", what, 64, 1));
  EXPECT_NE(random_elements("a", what, 64, 1), random_elements("a", what, 64, 2));
  EXPECT_NE(random_elements("a", what, 64, 1), random_elements("b", what, 64, 1));
}

TEST(Values, RoundsToBf16AsTheLibraryDoes) {
  const std::vector<double> exact = decode(random_elements("a", {HSTU_DTYPE_F32}, 5000, 1), HSTU_DTYPE_F32);
  const std::vector<double> rounded = decode(random_elements("a", {HSTU_DTYPE_BF16}, 5000, 1), HSTU_DTYPE_BF16);
  for (size_t i = 0; i < exact.size(); ++i) ASSERT_EQ(rounded[i], Bf16::widen(Bf16::round(exact[i]))) << exact[i];
}

}  // namespace
}  // namespace hstujit
