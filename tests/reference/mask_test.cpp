// The attention mask: the worked matrices of its specification, and its three forms (predicate, identities, intervals)
// against each other on all small sequences.
#include "reference/mask.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace hstujit::reference {
namespace {

struct Worked {
  const char* name;
  int n, contextual, targets, max_attn_len, min_full;
  std::vector<std::string> rows;
};

std::ostream& operator<<(std::ostream& out, const Worked& worked) { return out << worked.name; }

class WorkedMask : public testing::TestWithParam<Worked> {};

TEST_P(WorkedMask, IsReproduced) {
  const Worked& worked = GetParam();
  for (int i = 0; i < worked.n; ++i) {
    std::string row;
    for (int j = 0; j < worked.n; ++j) {
      const bool seen =
          allowed(i, j, worked.n, worked.contextual, worked.targets, worked.max_attn_len, worked.min_full);
      row += seen ? '1' : '.';
    }
    EXPECT_EQ(row, worked.rows[static_cast<size_t>(i)]) << "row " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specification, WorkedMask,
    testing::Values(
        Worked{"A", 6, 0, 2, 0, 0, {"1.....", "11....", "111...", "1111..", "11111.", "1111.1"}},
        Worked{"B", 7, 3, 2, 0, 0, {"11111..", "11111..", "11111..", "1111...", "11111..", "111111.", "11111.1"}},
        Worked{"C1", 5, 1, 1, 0, 0, {"1111.", "11...", "111..", "1111.", "11111"}},
        Worked{"C",
               8,
               0,
               2,
               2,
               0,
               {"1.......", "11......", "111.....", ".111....", "..111...", "...111..", "....111.", "....11.1"}},
        Worked{"D",
               8,
               0,
               2,
               2,
               2,
               {"1.......", "11......", "111.....", ".111....", "11111...", "111111..", "1111111.", "111111.1"}},
        Worked{"E",
               9,
               3,
               2,
               2,
               0,
               {"1111111..", "1111111..", "1111111..", "1111.....", "11111....", "...111...", "....111..", ".....111.",
                ".....11.1"}},
        Worked{"E2",
               9,
               3,
               2,
               2,
               1,
               {"1111111..", "1111111..", "1111111..", "1111.....", "11111....", "...111...", "1111111..", "11111111.",
                "1111111.1"}},
        Worked{"F1", 3, 5, 0, 0, 0, {"1..", ".1.", "..1"}},
        Worked{"F2", 5, 3, 3, 0, 0, {"1....", ".1...", "..1..", "...1.", "....1"}}),
    [](const auto& worked) { return std::string(worked.param.name); });

/// Upstream's form: positions get identities, shared by contextual rows and by targets; rules are applied in order.
bool allowed_by_identity(int i, int j, int n, int C, int T, int W, int F) {
  const int distinct = n - std::max(C - 1, 0) - T;
  const auto identity = [&](int x) { return std::min(C > 0 ? std::max(x - C + 1, 0) : x, distinct); };
  const int r = identity(i), c = identity(j);
  bool valid = i == j || r > c;
  if (W > 0) valid = valid && (r - c <= W || (F > 0 && r >= distinct - F));
  if (C > 0) valid = valid || (r == 0 && c < distinct);
  return valid;
}

/// All sequences of up to 12 rows with all options up to a little beyond their length.
void for_all_masks(const std::function<void(int n, int C, int T, int W, int F)>& body) {
  for (int n = 0; n <= 12; ++n)
    for (int C = 0; C <= 5; ++C)
      for (int T = 0; T <= n + 1; ++T)
        for (int W = 0; W <= 6; ++W)
          for (int F = 0; F <= 3; ++F) body(n, C, T, W, F);
}

TEST(Mask, PredicateEqualsTheIdentityFormWhereverItIsDefined) {
  int64_t cases = 0, differing = 0;
  for_all_masks([&](int n, int C, int T, int W, int F) {
    if (n < C + T) return;  // degenerate: both are the diagonal by rule, see below
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j, ++cases)
        differing += allowed(i, j, n, C, T, W, F) != allowed_by_identity(i, j, n, C, T, W, F);
  });
  EXPECT_GT(cases, 300'000);
  EXPECT_EQ(differing, 0);
}

TEST(Mask, DegenerateSequencesSeeTheDiagonalOnly) {
  int64_t differing = 0;
  for_all_masks([&](int n, int C, int T, int W, int F) {
    if (n >= C + T) return;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) differing += allowed(i, j, n, C, T, W, F) != (i == j);
  });
  EXPECT_EQ(differing, 0);
}

TEST(Mask, IntervalFormAndPairCountEqualThePredicate) {
  int64_t differing = 0;
  for_all_masks([&](int n, int C, int T, int W, int F) {
    const SequenceMask mask{.contextual = C, .targets = T, .max_attn_len = W, .min_full = F};
    int64_t pairs = 0;
    for (int i = 0; i < n; ++i) {
      const KeyRange keys = keys_of_row(mask, i, n);
      for (int j = 0; j < n; ++j) {
        const bool seen = mask.allows(i, j, n);
        pairs += seen;
        differing += seen != ((j >= keys.begin && j < keys.end) || i == j);
      }
    }
    differing += static_cast<double>(pairs) != pair_count(mask, n);
  });
  EXPECT_EQ(differing, 0);
}

TEST(Mask, FullSeesEverything) {
  const SequenceMask mask{.full = true};
  EXPECT_TRUE(mask.allows(0, 6, 7));
  EXPECT_EQ(pair_count(mask, 7), 49);
}

}  // namespace
}  // namespace hstujit::reference
