// Length distributions are exact and reproducible.
#include "workload/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hstujit {
namespace {

Lengths linear(int64_t from, int64_t to, std::optional<uint64_t> seed = std::nullopt) {
  return {Lengths::Kind::linear, from, to, seed, {}};
}

TEST(Lengths, LinearIsTheRoundedLineOfDlrm) {
  const std::vector<int64_t> lengths = draw(linear(64, 1984), 32);
  for (int64_t b = 0; b < 32; ++b)
    EXPECT_EQ(lengths[static_cast<size_t>(b)], 64 + std::llround(1920.0 * static_cast<double>(b) / 31)) << b;
  EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}), 98304 - 32 * 2048);
}

TEST(Lengths, ShuffledLinearHasTheSameLengthsInAnotherOrder) {
  std::vector<int64_t> plain = draw(linear(64, 1984), 32), shuffled = draw(linear(64, 1984, 1), 32);
  EXPECT_NE(shuffled, plain);
  EXPECT_EQ(shuffled, draw(linear(64, 1984, 1), 32));
  EXPECT_NE(shuffled, draw(linear(64, 1984, 2), 32));
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, plain);
}

TEST(Lengths, LinearOfOneOrNoSequence) {
  EXPECT_EQ(draw(linear(7, 9), 1), std::vector<int64_t>{7});
  EXPECT_TRUE(draw(linear(7, 9), 0).empty());
}

TEST(Lengths, UniformStaysWithinAndReachesBothEnds) {
  const std::vector<int64_t> lengths = draw({Lengths::Kind::uniform, 3, 6, 5, {}}, 200);
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), 3);
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), 6);
}

TEST(Lengths, UniformIsTheSameOnEveryMachine) {
  const std::vector<int64_t> expected = {741, 159, 278, 344, 38};
  EXPECT_EQ(draw({Lengths::Kind::uniform, 0, 999, 42, {}}, 5), expected);
}

TEST(Lengths, ConstantAndGiven) {
  EXPECT_EQ(draw({Lengths::Kind::constant, 4, 0, {}, {}}, 3), (std::vector<int64_t>{4, 4, 4}));
  EXPECT_EQ(draw({Lengths::Kind::given, 0, 0, {}, {2, 0, 9}}, 3), (std::vector<int64_t>{2, 0, 9}));
}

}  // namespace
}  // namespace hstujit
