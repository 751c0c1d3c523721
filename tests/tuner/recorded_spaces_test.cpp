// How good the search is on spaces that were measured completely, on real GPUs: arithmetic with fixed seeds.
// spaces/README.md says where the recordings are from.
#include "tuner/recorded_spaces.hpp"

#include "support/compress.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

namespace hstujit::test {
namespace {

class RecordedSpaces : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, RecordedSpaces, testing::ValuesIn(recordings()),
                         [](const auto& each) { return each.param; });

constexpr size_t kLargeSpace = 2000;

// T1: the budgeted searches, with a twentieth of the evaluations.
TEST_P(RecordedSpaces, AreSearchedWithATwentiethOfTheEvaluations) {
  const NamedSpace space = read_recording(GetParam());
  const size_t size = space.recorded.space.size();
  if (size < kLargeSpace) GTEST_SKIP() << size << " configurations: T1 speaks of " << kLargeSpace << " and more";
  const bool long_to_model = size > 10'000;
  const auto blind = simulate_seeds("random", space.recorded, size / 20, 40);
  for (const std::string strategy : {"model", "local"}) {
    const int seeds = strategy == "local" ? 40 : long_to_model ? 4 : 16;  // a model takes seconds
    const auto reached = simulate_seeds(strategy, space.recorded, size / 20, seeds);
    const auto at = [&](const std::vector<double>& sorted, size_t part) { return sorted[sorted.size() / part]; };
    const double median = at(reached, 2), tenth = at(reached, 10);
    std::printf(
        "%s, %s, %zu configurations: median %.1f %%, 10th percentile %.1f %% of the best; at random %.1f, %.1f\n",
        GetParam().c_str(), strategy.c_str(), size, 100 * median, 100 * tenth, 100 * at(blind, 2), 100 * at(blind, 10));
    RecordProperty(strategy + "_median_permille", static_cast<int>(1000 * median));
    RecordProperty(strategy + "_tenth_permille", static_cast<int>(1000 * tenth));
    EXPECT_GE(median, 0.99) << strategy;
    // Two configurations of this space are within 10 % of the best, and the second of them is at 93.1 %.
    EXPECT_GE(tenth, GetParam() == "convolution_A100" ? 0.93 : 0.95) << strategy;
  }
}

TEST(RecordedText, GivesBackWhatItWasMadeOf) {
  const Space space({{1, 2}, {4, 8}}, {Config{{2, 8}}, Config{{1, 4}}, Config{{2, 4}}}, Config{{2, 4}});
  const NamedSpace made{"here", {"a", "b"}, RecordedSpace(space, [](const Config& c) -> std::optional<double> {
                          if (c[1] == 8) return std::nullopt;
                          return c[0] * 1e-6;
                        })};
  const NamedSpace read = space_of_bytes(bytes_of(made));
  EXPECT_EQ(read.source, made.source);
  EXPECT_EQ(read.knobs, made.knobs);
  EXPECT_EQ(read.recorded.space.points(), made.recorded.space.points());
  EXPECT_EQ(read.recorded.space.standard(), space.standard());
  ASSERT_EQ(read.recorded.seconds.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(read.recorded.seconds[i].has_value(), made.recorded.seconds[i].has_value());
    EXPECT_NEAR(read.recorded.seconds[i].value_or(0), made.recorded.seconds[i].value_or(0), 1e-12);
  }
  EXPECT_EQ(read.recorded.space.values(1), (std::vector<int32_t>{4, 8}));
}

TEST(RecordedText, KeepsTheClock) {
  const Space space({{1, 2, 3}}, {Config{{1}}, Config{{2}}, Config{{3}}}, Config{{1}});
  NamedSpace made{"here", {"a"}, RecordedSpace(space, [](const Config& c) { return c[0] * 1e-6; }), "that machine"};
  made.recorded.trials = {{0.5, 0.04}, {0.25, std::nullopt}, {std::nullopt, 0.0}};
  const NamedSpace read = space_of_bytes(bytes_of(made));
  EXPECT_EQ(read.clock, "that machine");
  ASSERT_EQ(read.recorded.trials.size(), 3u);
  EXPECT_DOUBLE_EQ(*read.recorded.trials[0].compiling, 0.5);
  EXPECT_DOUBLE_EQ(*read.recorded.trials[0].measuring, 0.04);
  EXPECT_DOUBLE_EQ(*read.recorded.trials[1].compiling, 0.25);
  EXPECT_FALSE(read.recorded.trials[1].measuring);
  EXPECT_FALSE(read.recorded.trials[2].compiling);
  EXPECT_EQ(read.recorded.trials[2].measuring, 0.0);
  made.clock.clear();
  EXPECT_TRUE(space_of_bytes(bytes_of(made)).recorded.trials.empty()) << "as before there were clocks";
}

TEST(RecordedText, RefusesWhatItDidNotWrite) {
  const auto says = [](const std::string& bytes, const char* words) {
    try {
      space_of_bytes(bytes);
      ADD_FAILURE() << "taken: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), HSTU_ERROR_STORE);
      EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
    }
  };
  const auto text = [&](const std::string& plain, const char* words) { says(compressed(plain), words); };
  const std::string head = "hstujit-space-1\nsource x\nknobs a b\n";
  EXPECT_EQ(space_of_bytes(compressed(head + "1 2 3\n")).recorded.space.size(), 1u);
  says("", "no zstd frame");
  says(compressed(head).substr(0, 20), "no zstd frame");
  text("other\n", "first line");
  text("hstujit-space-1\nknobs a\n", "\"source ...\"");
  text("hstujit-space-1\nsource x\nknobs a b c d e f g h i j k l m\n1 1\n", "13 knobs");
  text(head, "no rows");
  text(head + "1 2 3\n1 2 4\n", "row 2 repeats");
  text(head + "1 2 3\n1 -3 4\n", "\"-3\" in row 2");
  text(head + "1 2\n", "\"\" in row 1");
  text(head + "1 2 0\n", "took no time");
  const std::string clocked = "hstujit-space-2\nsource x\nclock y\nknobs a b\n";
  EXPECT_EQ(space_of_bytes(compressed(clocked + "1 2 3 4 5\n1 3 - - -\n")).recorded.space.size(), 2u);
  text("hstujit-space-2\nsource x\nknobs a b\n", "\"clock ...\"");
  text(clocked + "1 2 3\n", "\"\" in row 1");
  text(clocked + "1 2 3 4\n", "\"\" in row 1");
  text(clocked + "1 2 3 4 -5\n", "\"-5\" in row 1");
  text(clocked + "1 2 3 4 5 6\n", "\"5 6\" in row 1");
}

}  // namespace
}  // namespace hstujit::test
