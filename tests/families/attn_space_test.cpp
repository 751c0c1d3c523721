// Sections of the order of tiles: as many (sequence, head) pairs as were fast on an H200.
#include "families/attn_space.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

/// Of `pairs` sequences and heads with this many keys of head dim 128.
int walked(int64_t pairs, int64_t keys) {
  DeviceFacts device;
  device.l2_bytes = int64_t{60} << 20;
  return attn_space::walked_section_pairs(pairs, pairs * keys * 512, device);
}

TEST(WalkedSectionPairs, KeepSixteenPairsTogetherUpToTwoCaches) {
  EXPECT_EQ(walked(16, 16384), 8);
  EXPECT_EQ(walked(64, 16384), 8);
  EXPECT_EQ(walked(32, 8192), 16);
  EXPECT_EQ(walked(64, 8192), 16);
  EXPECT_EQ(walked(128, 4096), 16);
}

TEST(WalkedSectionPairs, StayWithinHalfTheCacheWhereThatIsMorePairs) {
  EXPECT_EQ(walked(256, 2048), 16);
  EXPECT_EQ(walked(2048, 512), 64);
  EXPECT_EQ(walked(4, 512), 4);
}

TEST(WalkedSectionPairs, AreAtLeastOne) {
  EXPECT_EQ(walked(1, 1 << 20), 1);
  EXPECT_EQ(walked(3, 1 << 20), 1);
}

}  // namespace
}  // namespace hstujit
