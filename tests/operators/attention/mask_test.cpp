// The attention mask: the worked matrices of its specification, and its three forms (predicate, identities, intervals)
// against each other on all small sequences.
#include "operators/attention/mask.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    const SequenceMask mask{
        .contextual = C, .targets = T, .max_attn_len = W, .min_full = F, .group = 1 + (n + C + T + W + F) % 4};
    int64_t pairs = 0;
    for (int i = 0; i < n; ++i) {
      const KeyRange keys = keys_of_row(mask, i, n);
      for (int j = 0; j < n; ++j) {
        const bool seen = mask.allows(i, j, n);
        pairs += seen;
        differing += seen != ((j >= keys.begin && j < keys.end) || (j >= keys.own && j <= i));
      }
    }
    differing += static_cast<double>(pairs) != pair_count(mask, n);
  });
  EXPECT_EQ(differing, 0);
}

TEST(Mask, FullSeesEverything) {
  const SequenceMask mask{.kind = HSTU_MASK_FULL};
  EXPECT_TRUE(mask.allows(0, 6, 7));
  EXPECT_EQ(pair_count(mask, 7), 49);
}

std::vector<std::string> rows_of(const SequenceMask& mask, int64_t first, int64_t n) {
  std::vector<std::string> rows;
  for (int64_t i = first; i < n; ++i) {
    rows.emplace_back();
    for (int64_t j = 0; j < n; ++j) rows.back() += mask.allows(i, j, n) ? '1' : '.';
  }
  return rows;
}

TEST(Mask, GroupsOfTargetsAreCausalWithin) {
  const SequenceMask mask{.contextual = 2, .targets = 4, .group = 2};
  EXPECT_EQ(rows_of(mask, 0, 9),
            (std::vector<std::string>{"11111....", "11111....", "111......", "1111.....", "11111....", "111111...",
                                      "1111111..", "11111..1.", "11111..11"}));
  EXPECT_EQ(pair_count(mask, 9), 5 + 5 + 3 + 4 + 5 + 6 + 7 + 6 + 7);
  const SequenceMask degenerate{.contextual = 3, .targets = 3, .group = 2};
  EXPECT_EQ(pair_count(degenerate, 5), 5);
}

TEST(Mask, LocalWindowsOfTheNewestRows) {
  const SequenceMask mask{.kind = HSTU_MASK_LOCAL, .left = 2, .right = 1};
  EXPECT_EQ(rows_of(mask, 4, 7), (std::vector<std::string>{"..1111.", "...1111", "....111"}));
  EXPECT_EQ(pair_count(mask, 7, 4), 4 + 4 + 3);
  const SequenceMask back{.kind = HSTU_MASK_LOCAL, .left = -1, .right = 0};
  EXPECT_EQ(rows_of(back, 0, 3), (std::vector<std::string>{"1..", "11.", "111"}));
  const SequenceMask ahead{.kind = HSTU_MASK_LOCAL, .left = 0, .right = -1};
  EXPECT_EQ(rows_of(ahead, 0, 3), (std::vector<std::string>{"111", ".11", "..1"}));
}

TEST(Mask, IntervalsOfSemiLocalAttention) {
  // build_sla_func with k1 = 2, k2 = 1 of 8 rows, 2 of them targets: bounds by row, three each.
  const int bounds[8][3] = {{1, 1, 1}, {1, 1, 2}, {1, 1, 3}, {1, 2, 4}, {1, 3, 5}, {1, 4, 6}, {6, 6, 6}, {6, 6, 6}};
  std::vector<int32_t> data(3 * 10, -7);  // rows 1 to 8 of ten
  for (size_t i = 0; i < 8; ++i)
    for (size_t m = 0; m < 3; ++m) data[m * 10 + 1 + i] = bounds[i][m];
  SequenceMask mask{.kind = HSTU_MASK_INTERVALS, .row_of_zero = 1};
  mask.bounds = hstu_matrix(data.data(), HSTU_DTYPE_I32, 3, 10);
  EXPECT_EQ(rows_of(mask, 0, 8), (std::vector<std::string>{"1.......", "11......", "111.....", "1.11....", "1..11...",
                                                           "1...11..", "111111..", "111111.."}));
  EXPECT_EQ(pair_count(mask, 8), 1 + 2 + 3 + 3 + 3 + 3 + 6 + 6);
}

}  // namespace
}  // namespace hstujit::reference
