// Sections of the order of tiles: as many (sequence, head) pairs as were fast on an H200.
#include "families/attention/attn90.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

/// Of `pairs` sequences and heads with this many keys of head dim 128.
int section(int64_t pairs, int64_t keys) {
  DeviceFacts device;
  device.l2_bytes = int64_t{60} << 20;
  return attn90::section_pairs({.head_dim_qk = 128, .head_dim_v = 128}, pairs, keys, device);
}

TEST(SectionPairs, KeepSixteenPairsTogetherUpToTwoCaches) {
  EXPECT_EQ(section(16, 16384), 8);
  EXPECT_EQ(section(64, 16384), 8);
  EXPECT_EQ(section(32, 8192), 16);
  EXPECT_EQ(section(64, 8192), 16);
  EXPECT_EQ(section(128, 4096), 16);
}

TEST(SectionPairs, StayWithinHalfTheCacheWhereThatIsMorePairs) {
  EXPECT_EQ(section(256, 2048), 16);
  EXPECT_EQ(section(2048, 512), 64);
  EXPECT_EQ(section(4, 512), 4);
}

TEST(SectionPairs, AreAtLeastOne) {
  EXPECT_EQ(section(1, 1 << 20), 1);
  EXPECT_EQ(section(3, 1 << 20), 1);
}

}  // namespace
}  // namespace hstujit
