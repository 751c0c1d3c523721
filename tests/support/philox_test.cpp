// Philox's words, the published and the specification's, and what dropout makes of them.
#include "support/philox.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox(0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0, 123), (Words{0x11237cdc, 0x66ff3dd8, 0xbfb09d90, 0x30db7e52}));
  EXPECT_EQ(philox(1, 123), (Words{0xa3c0144e, 0x7d401ead, 0x34d6591e, 0xde0ecdaf}));
  EXPECT_EQ(philox(2, 123)[0], 0x2c1b5aa5u);
  EXPECT_EQ(philox(3, 123)[0], 0x1e66d4d6u);
  EXPECT_EQ(philox(5, 0x123456789abcdef), (Words{0x5765db8a, 0xd104608f, 0xc658b7d8, 0xe9aa137f}));
  EXPECT_EQ(philox((uint64_t{1} << 32) + 1, 123)[0], 0x77c998c1u);
}

TEST(Philox, Uniforms) {
  EXPECT_FLOAT_EQ(uniform_of(0x6627e8d5), .798092902f);
  EXPECT_FLOAT_EQ(uniform_of(0xe169c58d), .238959596f);
  EXPECT_FLOAT_EQ(uniform_of(philox(5, 0x123456789abcdef)[0]), .682795882f);
  EXPECT_EQ(uniform_of(0), 0.0f);
  EXPECT_EQ(uniform_of(0xffffffff), 0.0f);
  EXPECT_LT(uniform_of(0x7fffffff), 1.0f);
  EXPECT_EQ(uniform_of(0x7fffffff), uniform_of(0x80000000));
}

TEST(Philox, ThresholdSeparatesTheDroppedFromTheKept) {
  for (const float ratio : {1e-30f, 1e-9f, 1e-4f, 0.1f, 0.3f, 0.5f, 0.9f, 0.999999f, 0.99999994f}) {
    const uint32_t threshold = dropout_threshold(ratio);
    EXPECT_FALSE(uniform_of(threshold - 1) > ratio) << ratio;
    EXPECT_TRUE(threshold == 1u << 31 || uniform_of(threshold) > ratio) << ratio;
  }
  EXPECT_EQ(dropout_threshold(0.99999994f), 1u << 31);  // no uniform is larger
}

}  // namespace
}  // namespace hstujit
