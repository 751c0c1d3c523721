// The mask logic of the attention kernels, compiled for the host: over small sequences, every query row meets every key
// it may see exactly once, and blocks said to be seen entirely are.
#include "operators/attention/mask.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

// The headers hold device code; of it only plain integer arithmetic is used here.
#define __CUDACC__
#define __device__
#define __forceinline__ inline
float __uint_as_float(unsigned);
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/interval_plan.cuh"
#include "attention/mask/interval_runs.cuh"
#include "attention/mask/row_tiles.cuh"
#include "attention/mask/tile_sight.cuh"

namespace hstujit {
namespace {

template <int kKeys, bool kCausal_, bool kTargets, bool kContext, bool kWindow, bool kExempt, bool kGroups = false,
          bool kLocal_ = false>
struct Features {
  using Target = int;
  static constexpr int kBlockN = kKeys;
  static constexpr bool kCausal = kCausal_, kHasTargets = kTargets, kContextual = kContext, kMaxAttnLen = kWindow,
                        kMinFullAttn = kExempt, kSoftmax = kExempt, kTargetGroups = kGroups, kLocal = kLocal_,
                        kBias = false;
};
template <class Plain>
struct Biased : Plain {
  static constexpr bool kBias = true;
};

/// Scales of blocks of rows, whose first row any sequence may begin before.
template <class Plain>
struct Scaled : Plain {
  static constexpr bool kBlockScales = true;
};

constexpr int kRuns = 400, kLongest = 90;

struct Sequence {
  int n, targets, contextual, window, exempt, group = 1, left = 0, right = 0;
};

template <class Config>
Sequence random_sequence(std::mt19937& random) {
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  Sequence s{1 + below(kLongest), 0, 0, 0, 0};
  if (Config::kHasTargets && below(4) > 0) s.targets = below(3) > 0 ? below(s.n / 2 + 1) : below(s.n + 5);
  if (Config::kContextual) s.contextual = below(20);
  if (Config::kMaxAttnLen) s.window = below(40);
  if (Config::kMinFullAttn) s.exempt = below(30);
  if (Config::kTargetGroups) s.group = 1 + below(20);
  if (Config::kLocal) s.left = below(40) - 3, s.right = below(40) - 3;
  return s;
}

std::ostream& operator<<(std::ostream& out, const Sequence& s) {
  return out << "n=" << s.n << " T=" << s.targets << " C=" << s.contextual << " W=" << s.window << " F=" << s.exempt
             << " g=" << s.group << " left=" << s.left << " right=" << s.right;
}

template <class Config>
bool sees(const Sequence& s, int i, int j) {
  if (Config::kLocal) return (s.left < 0 || j >= i - s.left) && (s.right < 0 || j <= i + s.right);
  return !Config::kCausal || reference::allowed(i, j, s.n, s.contextual, s.targets, s.window, s.exempt, s.group);
}

/// What the masks read of a kernel's parameters.
struct Params {
  const void *num_targets, *num_contexts;
  int wide_contexts, contextual_seq_len, max_attn_len, min_full_attn_seq_len, target_group_size, window_left,
      window_right;
};

/// One block of query rows, of warps with warp_rows each, against its plan.
template <class Config>
void check_rows(const Sequence& s, const hstu::variant::HstuMask<Config>& mask, int first_row, int rows,
                int warp_rows) {
  constexpr int kBlockN = Config::kBlockN, kChunk = 16;
  const int first = std::max(first_row, 0), last = first_row + rows;
  const hstu::variant::KeyPlan<Config> plan(mask, first, last);
  std::vector<int> visits(static_cast<size_t>(s.n), 0);
  for (int block = 0; block < plan.blocks; ++block) {
    const int begin = plan.key_begin(block);
    const bool hangs = Config::kSoftmax && begin < plan.range_begin(block);
    for (int warp = first_row; hangs && warp < last; warp += warp_rows) {
      const hstu::variant::KeyView<Config> view(mask, plan, warp, warp + warp_rows);
      ASSERT_FALSE(view.sees_block(block)) << s << ": block " << block << " begins before its range";
    }
    for (int j = std::max(begin, plan.range_begin(block)); j < begin + kBlockN; ++j) {
      ASSERT_TRUE(j >= 0 && j < s.n) << s << ": block " << block << " reaches key " << j;
      ++visits[static_cast<size_t>(j)];
      for (int i = first; i < last; ++i) {
        const bool seen = sees<Config>(s, i, j);
        const int chunk = begin + (j - begin) / kChunk * kChunk;
        ASSERT_EQ(mask.seen_bits(i, chunk) >> (j - chunk) & 1, seen) << s << " i=" << i << " j=" << j;
        const int warp = first_row + (i - first_row) / warp_rows * warp_rows;
        const hstu::variant::KeyView<Config> view(mask, plan, warp, warp + warp_rows);
        ASSERT_TRUE(seen || !view.sees_block(block)) << s << " i=" << i << " j=" << j;
        ASSERT_TRUE(seen || !view.sees_all(chunk, chunk + kChunk)) << s << " i=" << i << " j=" << j;
        ASSERT_TRUE(!seen || view.touches(chunk, chunk + kChunk)) << s << " i=" << i << " j=" << j;
      }
    }
  }
  for (int j = 0; j < s.n; ++j) {
    ASSERT_LE(visits[static_cast<size_t>(j)], 1) << s << " j=" << j;
    for (int i = first; i < last; ++i)
      ASSERT_TRUE(visits[static_cast<size_t>(j)] == 1 || !sees<Config>(s, i, j)) << s << " i=" << i << " j=" << j;
  }
}

/// How often row i of a tile meets key j, by the plan of kernels whose blocks count from the sequence's start.
template <class Config>
int meetings(const hstu::variant::HstuMask<Config>& mask, const hstu::variant::RowTilePlan<Config>& plan,
             const hstu::variant::BlockRange& seen, bool zero_is_nothing, int i, int j) {
  constexpr int kBlockN = Config::kBlockN, kChunk = 16;
  int count = 0;
  for (int block = seen.begin; block < seen.end; ++block) {
    const int begin = plan.key_begin(block), chunk = begin + (j - begin) / kChunk * kChunk;
    if (j < begin || j >= begin + kBlockN) continue;
    const bool zero = j >= plan.keys_end(block, mask.length);
    if (seen.is_full(block))
      count += !zero || !zero_is_nothing;
    else
      count += (mask.seen_bits(i, chunk) >> (j - chunk) & 1) != 0 && (zero_is_nothing ? !zero : j < plan.end_of(block));
  }
  return count;
}

template <class Config>
void check_row_tiles(const Sequence& s, const hstu::variant::HstuMask<Config>& mask, int first, int rows,
                     bool zero_is_nothing, int64_t start) {
  const int last = std::min(first + rows, s.n), warp_rows = 16;
  const hstu::variant::RowTilePlan<Config> plan(mask, first, last, hstu::variant::NeighbouringKeys{}, start);
  for (int block = 0; hstu::variant::block_scales<Config>(0) && block < plan.blocks; ++block) {
    const int64_t begin = start + plan.key_begin(block), end = start + plan.keys_end(block, mask.length);
    ASSERT_TRUE(begin >= start && begin < end && begin / Config::kBlockN == (end - 1) / Config::kBlockN)
        << s << ": block " << block << " has keys [" << begin << ", " << end << ") of the tensor";
  }
  for (int i = first; i < last; ++i) {
    const int warp = first + (i - first) / warp_rows * warp_rows;
    const hstu::variant::RowsView<Config> view(mask, warp, std::min(warp + warp_rows, s.n));
    const auto upper = plan.upper(view), lower = plan.lower(view, zero_is_nothing);
    ASSERT_TRUE(0 <= upper.begin && upper.begin <= upper.end && upper.end <= lower.begin && lower.begin <= lower.end &&
                lower.end <= plan.blocks)
        << s << " i=" << i;
    for (int j = 0; j < s.n; ++j) {
      constexpr int kChunk = 16;
      const bool seen = sees<Config>(s, i, j);
      const int chunk = j / kChunk * kChunk;
      ASSERT_TRUE(!seen || view.touches(chunk, chunk + kChunk)) << s << " i=" << i << " j=" << j;
      ASSERT_TRUE(seen || !view.sees_all(chunk, chunk + kChunk)) << s << " i=" << i << " j=" << j;
      ASSERT_EQ(meetings(mask, plan, upper, zero_is_nothing, i, j) + meetings(mask, plan, lower, zero_is_nothing, i, j),
                int{seen})
          << s << " i=" << i << " j=" << j << " rows from " << first << (zero_is_nothing ? "" : ", softmax");
    }
  }
}

int tiles_of_nothing, skipped_tiles;  ///< that check_sight() has met

/// Tiles of so many rows and keys, which end at whole numbers of tiles from the sequence's end: those with a pair are
/// said to have some, those said to have all have them, and bits are the pairs.
template <class Config>
void check_sight(const Sequence& s, const hstu::variant::HstuMask<Config>& mask, int rows, int keys) {
  for (int last = s.n; last > 0; last -= rows)
    for (int key_end = s.n; key_end > 0; key_end -= keys) {
      const int key = key_end - keys;
      bool some = false, all = !Config::kSoftmax || key >= 0;
      for (int i = std::max(last - rows, 0); i < last; ++i) {
        for (int j = std::max(key, 0); j < key_end; ++j) {
          const bool seen = sees<Config>(s, i, j);
          some |= seen, all &= seen;
          const int word = key + (j - key) / 32 * 32;
          ASSERT_EQ(hstu::variant::row_bits(mask, i, word) >> (j - word) & 1, seen) << s << " i=" << i << " j=" << j;
        }
        const uint32_t before = hstu::variant::row_bits(mask, i, key) & hstu::variant::bits_below(-key);
        ASSERT_TRUE(!Config::kSoftmax || before == 0) << s << " i=" << i << " sees keys before the sequence";
      }
      ASSERT_TRUE(hstu::variant::sees_some(mask, last - rows, last, key, key_end) || !some)
          << s << " rows to " << last << ", keys to " << key_end;
      ASSERT_TRUE(all || !hstu::variant::sees_all(mask, last - rows, last, key, key_end))
          << s << " rows to " << last << ", keys to " << key_end;
      tiles_of_nothing += !some;
      skipped_tiles += !hstu::variant::sees_some(mask, last - rows, last, key, key_end);
    }
}

template <class Config>
void check() {
  std::mt19937 random(Config::kBlockN);
  tiles_of_nothing = skipped_tiles = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Sequence s = random_sequence<Config>(random);
    // Every other sequence has a number of contextual rows of its own.
    const Params p{&s.targets, run % 2 ? &s.contextual : nullptr,
                   0,          run % 2 ? -1 : s.contextual,
                   s.window,   s.exempt,
                   s.group,    s.left,
                   s.right};
    const hstu::variant::HstuMask<Config> mask(p, 0, s.n);
    const int rows = 16 << run % 3, warp_rows = std::max(rows / 2, 16);
    for (int last = s.n; last > 0; last -= rows) {  // row blocks count from the end; the last hangs over the start
      check_rows(s, mask, last - rows, rows, warp_rows);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const int keys : {16, 32, 128}) check_sight(s, mask, rows, keys);
    if (testing::Test::HasFatalFailure()) return;
    // With scales of blocks of rows, tiles are those of the tensor, and keys that are zeros add nothing.
    constexpr bool kScaled = hstu::variant::block_scales<Config>(0);
    const int start = run % 3 ? run : 0;
    for (int first = kScaled ? -(start % rows) : 0; first < s.n; first += rows) {
      const int begin = std::max(first, 0);
      check_row_tiles(s, mask, begin, first + rows - begin, run % 2 == 0 || kScaled, start);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GE(skipped_tiles, tiles_of_nothing * 9 / 10) << "of so many that have nothing to see";
}

template <class Config>
class HstuMask : public testing::Test {};

using All = testing::Types<
    Features<16, true, false, false, false, false>, Features<32, true, true, false, false, false>,
    Features<16, true, false, true, false, false>, Features<48, true, true, true, false, false>,
    Features<32, true, false, false, true, false>, Features<16, true, true, false, true, false>,
    Features<32, true, true, false, true, true>, Features<16, true, true, true, true, false>,
    Features<48, true, true, true, true, true>, Features<32, false, false, false, false, false>,
    Features<16, true, true, false, false, false, true>, Features<32, true, true, true, true, true, true>,
    Features<16, true, true, false, true, false, true>, Features<16, false, false, false, false, false, false, true>,
    Features<48, false, false, false, false, false, false, true>, Biased<Features<32, true, true, false, false, false>>,
    Biased<Features<16, true, true, true, true, false, true>>, Biased<Features<48, true, true, false, true, true>>,
    Biased<Features<16, false, false, false, false, false, false, true>>,
    Scaled<Features<32, true, false, false, false, false>>, Scaled<Features<16, true, true, false, true, false, true>>,
    Scaled<Features<64, true, true, true, true, true>>, Scaled<Features<16, true, true, true, true, false, true>>,
    Scaled<Features<32, false, false, false, false, false>>,
    Scaled<Features<16, false, false, false, false, false, false, true>>>;
TYPED_TEST_SUITE(HstuMask, All);

TYPED_TEST(HstuMask, PlansVisitEveryVisiblePairOnce) { check<TypeParam>(); }

struct FourIntervals {
  static constexpr int kBlockN = 16, kIntervals = 4;
};
struct FourIntervalsAlongScales : FourIntervals {
  static constexpr bool kBlockScales = true;
};

/// Extremes of the rows [first, last) of bounds, [interval][begin, end][row].
hstu::variant::IntervalExtremes extremes_of(const std::vector<int> (&bounds)[2], int n, int first, int last) {
  hstu::variant::IntervalExtremes of{n, 0, 0, n};
  for (int i = first; i < last; ++i) {
    const int begin = bounds[0][static_cast<size_t>(i)], end = bounds[1][static_cast<size_t>(i)];
    of.full_begin = std::max(of.full_begin, begin);
    of.full_end = std::min(of.full_end, end);
    if (begin < end) of.seen_begin = std::min(of.seen_begin, begin), of.seen_end = std::max(of.seen_end, end);
  }
  return of;
}

template <class Config>
void check_runs() {
  constexpr int kParts = 2, kRows = 16, kIntervals = 4, kBlockN = 16;
  std::mt19937 random(5);
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  int full_blocks = 0;
  for (int run = 0; run < 1000; ++run) {
    const int n = 1 + below(300), rows = std::min(n, kParts * kRows - below(5));
    std::vector<int> bounds[kIntervals][2];
    for (auto& of : bounds) {
      const int near = below(n), width = run % 2 ? 30 : 150;
      for (int i = 0; i < rows; ++i) {
        of[0].push_back(std::min(near + below(10), n));
        of[1].push_back(std::clamp(near + below(width) - 5, 0, n));
      }
    }
    hstu::variant::IntervalExtremes extremes[kParts][kIntervals];
    for (int part = 0; part < kParts; ++part)
      for (int m = 0; m < kIntervals; ++m)
        extremes[part][m] = extremes_of(bounds[m], n, std::min(part * kRows, rows), std::min((part + 1) * kRows, rows));
    hstu::variant::IntervalRuns<Config> plan;
    const int start = below(1000);
    plan.set_leads(start, 0, 0);
    plan.make(extremes);
    const auto end_of = [&](int block) { return std::min(plan.key_begin(block) + kBlockN, plan.keys_end(block, n)); };
    for (int block = 1; block < plan.blocks; ++block) ASSERT_GE(plan.key_begin(block), end_of(block - 1));
    for (int i = 0; i < rows; ++i) {
      std::vector<int> visits(static_cast<size_t>(n), 0);
      int done = 0;
      for (int r = 0; r < kIntervals; ++r) {
        const auto seen = plan.seen_of(r, extremes[i / kRows]);
        ASSERT_TRUE(done <= seen.begin && seen.begin <= seen.full_begin && seen.full_begin <= seen.full_end &&
                    seen.full_end <= seen.end && seen.end <= plan.blocks)
            << "run " << run;
        done = seen.end;
        for (int block = seen.begin; block < seen.end; ++block)
          for (int j = plan.key_begin(block); j < end_of(block); ++j) {
            const bool one_scale = (start + j) / kBlockN == (start + plan.key_begin(block)) / kBlockN;
            ASSERT_TRUE(one_scale || !hstu::variant::block_scales<Config>(0)) << "run " << run << " j=" << j;
            bool sees = false;
            for (auto& of : bounds) sees |= of[0][static_cast<size_t>(i)] <= j && j < of[1][static_cast<size_t>(i)];
            ASSERT_TRUE(sees || !seen.is_full(block)) << "run " << run << " i=" << i << " j=" << j;
            ++visits[static_cast<size_t>(j)];
          }
        full_blocks += seen.full_end - seen.full_begin;
      }
      for (int j = 0; j < n; ++j)
        for (auto& of : bounds) {
          const bool sees = of[0][static_cast<size_t>(i)] <= j && j < of[1][static_cast<size_t>(i)];
          ASSERT_TRUE(!sees || visits[static_cast<size_t>(j)] == 1) << "run " << run << " i=" << i << " j=" << j;
        }
    }
  }
  EXPECT_GT(full_blocks, 500) << "blocks that take no mask";
}

TEST(IntervalRuns, SayWhatEachPartOfTheRowsSees) { check_runs<FourIntervals>(); }
TEST(IntervalRuns, LieAlongBlocksOfScales) { check_runs<FourIntervalsAlongScales>(); }

TEST(IntervalPlan, VisitsTheKeysOfAllIntervalsOnceAndLittleElse) {
  std::mt19937 random(3);
  const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
  for (int run = 0; run < 2000; ++run) {
    const int n = 1 + below(300);
    int begin[4], end[4];
    for (int m = 0; m < 4; ++m) begin[m] = below(n), end[m] = std::min(begin[m] + below(run % 2 ? 20 : 100) - 5, n);
    hstu::variant::IntervalPlan<FourIntervals> plan;
    plan.make(n, begin, end);
    std::vector<int> visits(static_cast<size_t>(n), 0);
    for (int block = 0; block < plan.blocks; ++block) {
      bool wanted = false;
      const int first = plan.key_begin(block);
      for (int j = std::max(first, 0); j < first + 16; ++j) {
        ASSERT_LT(j, n);
        ++visits[static_cast<size_t>(j)];
        for (int m = 0; m < 4; ++m) wanted |= begin[m] <= j && j < end[m];
      }
      ASSERT_TRUE(wanted) << "run " << run << ": block " << block << " holds nothing to see";
    }
    for (int j = 0; j < n; ++j)
      for (int m = 0; m < 4; ++m)
        ASSERT_EQ(visits[static_cast<size_t>(j)] == 1 || begin[m] > j || j >= end[m], true) << "run " << run;
    for (const int count : visits) ASSERT_LE(count, 1) << "run " << run;
  }
}

}  // namespace
}  // namespace hstujit
