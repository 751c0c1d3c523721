// Which pairs the device's attention really adds up: with equal scores everywhere and one-hot values, each result
// counts how often a row took a key. Missing, forbidden and doubled pairs all show.
#include "operators/attention/mask.hpp"
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr int64_t kHeads = 1, kDimQk = 32;

struct Options {
  int64_t contextual, max_attn_len, min_full;
  bool targets;
  hstu_mask kind = HSTU_MASK_CAUSAL;
  int64_t group = 1;
};

std::string name_of_options(const Options& o) {
  return fmt::format("C{}W{}F{}{}{}{}", o.contextual, o.max_attn_len, o.min_full, o.targets ? "T" : "",
                     o.kind == HSTU_MASK_FULL ? "full" : "", o.group > 1 ? fmt::format("g{}", o.group) : "");
}

void PrintTo(const Options& o, std::ostream* out) { *out << name_of_options(o); }

struct Sequence {
  int64_t n, targets;
};

bool allowed(const Options& o, int64_t i, int64_t j, const Sequence& s) {
  const auto by_kind = o.kind == HSTU_MASK_FULL ? reference::allowed_both_ways : reference::allowed;
  return by_kind(i, j, s.n, o.contextual, o.targets ? s.targets : 0, o.max_attn_len, o.min_full, o.group);
}

void set_mask(const Options& o, hstu_attention_args& args) {
  args.mask.kind = o.kind;
  args.mask.contextual_seq_len = o.contextual;
  args.mask.max_attn_len = o.max_attn_len;
  args.mask.min_full_attn_seq_len = o.min_full;
  args.mask.target_group_size = static_cast<int32_t>(o.group);
}

/// One call per chunk of dim_v keys: position first + d of every sequence has the unit vector d as its value.
class PairCounter {
 public:
  PairCounter(const std::vector<Sequence>& sequences, const Options& options, int64_t dim_v)
      : sequences_(sequences), options_(options), dim_v_(dim_v) {
    std::vector<int64_t> lengths, targets;
    for (const Sequence& s : sequences) {
      lengths.push_back(s.n);
      targets.push_back(s.targets);
    }
    offsets_ = test::offsets_of(lengths);
    const int64_t total = offsets_.back();
    args_.struct_size = sizeof args_;
    args_.q = memory_.poison(HSTU_DTYPE_BF16, {total, kHeads, kDimQk});
    args_.k = memory_.poison(HSTU_DTYPE_BF16, {total, kHeads, kDimQk});
    args_.v = memory_.poison(HSTU_DTYPE_BF16, {total, kHeads, dim_v});
    args_.out = memory_.poison(HSTU_DTYPE_BF16, {total, kHeads, dim_v});
    test::fill(args_.q, 0.25);
    test::fill(args_.k, 1);
    args_.seq_offsets = memory_.integers(HSTU_DTYPE_I64, offsets_);
    if (options.targets) args_.mask.num_targets = memory_.integers(HSTU_DTYPE_I64, targets);
    args_.alpha = 0.25f;  // every score is 32 * 0.25 * 0.25 = 2
    args_.max_seq_len = std::max<int64_t>(*std::max_element(lengths.begin(), lengths.end()), 1);
    args_.scaling_seqlen = 1;
    set_mask(options, args_);
  }

  /// Number of (row, key) pairs whose count is not what the mask says; the first is described.
  int64_t wrong_pairs(int64_t first_key, std::string& description) {
    for (size_t b = 0; b < sequences_.size(); ++b) set_values(b, first_key);
    test::DeviceCall call(memory_, Op::attention, &args_);
    EXPECT_EQ(call.status(), HSTU_OK) << call.error();
    if (test::test_device()->compile_only) return 0;
    const auto out = test::values(call.after(args_.out));
    int64_t wrong = 0;
    for (size_t b = 0; b < sequences_.size(); ++b) wrong += compare(b, first_key, out, description);
    return wrong;
  }

 private:
  void set_values(size_t b, int64_t first_key) {
    for (int64_t j = 0; j < sequences_[b].n; ++j) {
      std::vector<double> value(static_cast<size_t>(dim_v_), 0.0);
      if (j >= first_key && j < first_key + dim_v_) value[static_cast<size_t>(j - first_key)] = 1;
      store(args_.v, (offsets_[b] + j) * args_.v.stride[0], dim_v_, value.data());
    }
  }

  int64_t compare(size_t b, int64_t first_key, const std::vector<double>& out, std::string& description) const {
    const double one = 2 / (1 + std::exp(-2.0));
    const Sequence& s = sequences_[b];
    const int64_t targets = options_.targets ? s.targets : 0;
    int64_t wrong = 0;
    for (int64_t i = 0; i < s.n; ++i)
      for (int64_t j = first_key; j < std::min(s.n, first_key + dim_v_); ++j) {
        const double count = out[static_cast<size_t>((offsets_[b] + i) * dim_v_ + j - first_key)] / one;
        const bool seen = allowed(options_, i, j, s);
        if (std::fabs(count - seen) < 0.1) continue;
        if (wrong++ == 0 && description.empty())
          description = fmt::format("n={} T={} {}: row {} took key {} {:.2f} times, not {}", s.n, targets,
                                    name_of_options(options_), i, j, count, int{seen});
      }
    return wrong;
  }

  std::vector<Sequence> sequences_;
  Options options_;
  int64_t dim_v_;
  HostMemory memory_;
  std::vector<int64_t> offsets_;
  hstu_attention_args args_{};
};

TEST(AttentionPairs, AllSmallSequencesWithAllOptions) {
  HSTU_NEEDS_DEVICE();
  std::vector<Sequence> sequences;
  for (int64_t n = 0; n <= 8; ++n)
    for (int64_t targets = 0; targets <= n + 1; ++targets) sequences.push_back({n, targets});
  std::string description;
  for (int64_t contextual = 0; contextual <= 4; ++contextual)
    for (int64_t window = 0; window <= 5; ++window)
      for (int64_t full = 0; full <= 3; ++full)
        for (const bool targets : {false, true})
          for (const hstu_mask kind : {HSTU_MASK_CAUSAL, HSTU_MASK_FULL}) {
            const Options options{contextual, window, full, targets, kind};
            ASSERT_EQ(PairCounter(sequences, options, 8).wrong_pairs(0, description), 0) << description;
          }
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
}

class LongPairs : public testing::TestWithParam<Options> {};

TEST_P(LongPairs, AcrossTileEdges) {
  HSTU_NEEDS_DEVICE();
  // Lengths up to three of the largest tiles; targets few, many, and more than there are rows.
  const std::vector<Sequence> sequences{{385, 0}, {129, 7}, {64, 64}, {300, 130},
                                        {65, 66}, {256, 1}, {1, 0},   {127, 127}};
  PairCounter counter(sequences, GetParam(), 128);
  std::string description;
  for (int64_t first_key = 0; first_key < 385; first_key += 128)
    ASSERT_EQ(counter.wrong_pairs(first_key, description), 0) << description;
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
}

class ContextPairs : public testing::TestWithParam<Options> {};

TEST_P(ContextPairs, OfLongSequences) {
  HSTU_NEEDS_RESULTS();
  const std::vector<Sequence> sequences{{700, 0}, {512, 0}, {577, 20}, {600, 100}, {1, 0}, {641, 1}, {520, 8}};
  PairCounter counter(sequences, GetParam(), 128);
  std::string description;
  for (int64_t first_key = 0; first_key < 700; first_key += 128)
    ASSERT_EQ(counter.wrong_pairs(first_key, description), 0) << description;
}

INSTANTIATE_TEST_SUITE_P(Options, ContextPairs,
                         testing::Values(Options{8, 64, 0, true}, Options{64, 0, 0, true}, Options{1, 256, 0, false},
                                         Options{20, 100, 30, true}, Options{65, 64, 0, true}),
                         [](const auto& options) { return name_of_options(options.param); });

INSTANTIATE_TEST_SUITE_P(Options, LongPairs,
                         testing::Values(Options{0, 0, 0, false}, Options{0, 0, 0, true}, Options{1, 0, 0, true},
                                         Options{63, 0, 0, true}, Options{65, 0, 0, false}, Options{130, 0, 0, true},
                                         Options{0, 1, 0, true}, Options{0, 63, 0, true}, Options{0, 64, 0, false},
                                         Options{0, 65, 0, true}, Options{0, 128, 0, true}, Options{0, 200, 0, true},
                                         Options{0, 16, 1, true}, Options{0, 16, 64, false}, Options{0, 65, 129, true},
                                         Options{33, 1, 0, true}, Options{33, 64, 0, false}, Options{64, 64, 0, true},
                                         Options{65, 31, 0, true}, Options{130, 127, 0, true},
                                         Options{10, 65, 20, true}, Options{64, 10, 64, true}, Options{129, 1, 1, true},
                                         Options{200, 150, 200, false}),
                         [](const auto& options) { return name_of_options(options.param); });

constexpr hstu_mask kFull = HSTU_MASK_FULL;
const std::vector<Options> kFullOptions{
    Options{0, 0, 0, true, kFull, 1},       Options{1, 0, 0, true, kFull, 1},    Options{63, 0, 0, true, kFull, 1},
    Options{65, 0, 0, false, kFull, 1},     Options{130, 0, 0, true, kFull, 7},  Options{0, 1, 0, true, kFull, 1},
    Options{0, 64, 0, false, kFull, 1},     Options{0, 65, 0, true, kFull, 3},   Options{0, 200, 0, true, kFull, 1},
    Options{0, 16, 1, true, kFull, 1},      Options{0, 16, 64, false, kFull, 1}, Options{0, 65, 129, true, kFull, 70},
    Options{33, 1, 0, true, kFull, 1},      Options{64, 64, 0, true, kFull, 1},  Options{130, 127, 0, true, kFull, 1},
    Options{10, 65, 20, true, kFull, 1},    Options{64, 10, 64, true, kFull, 5}, Options{129, 1, 1, true, kFull, 1},
    Options{200, 150, 200, false, kFull, 1}};

INSTANTIATE_TEST_SUITE_P(FullOptions, LongPairs, testing::ValuesIn(kFullOptions),
                         [](const auto& options) { return name_of_options(options.param); });

/// Gradients count pairs, too. Chunks of kDim rows have unit vectors for q and dout, or of keys for k, everything else
/// is the same everywhere: so each element of dk and dv, or of dq, is of one pair, whose score is 2.
class GradientCounter {
 public:
  static constexpr int64_t kDim = 128;

  GradientCounter(hstu_dtype dtype, const std::vector<Sequence>& sequences, const Options& options)
      : sequences_(sequences), options_(options) {
    std::vector<int64_t> lengths, targets;
    for (const Sequence& s : sequences) lengths.push_back(s.n), targets.push_back(s.targets);
    offsets_ = test::offsets_of(lengths);
    hstu_attention_args& f = args_.forward;
    args_.struct_size = sizeof args_;
    f.struct_size = sizeof f;
    for (hstu_tensor* t : {&f.q, &f.k, &f.v, &args_.dout, &args_.dq, &args_.dk, &args_.dv})
      *t = memory_.poison(dtype, {offsets_.back(), kHeads, kDim});
    f.seq_offsets = memory_.integers(HSTU_DTYPE_I64, offsets_);
    if (options.targets) f.mask.num_targets = memory_.integers(HSTU_DTYPE_I64, targets);
    f.alpha = 2;
    f.max_seq_len = std::max<int64_t>(*std::max_element(lengths.begin(), lengths.end()), 1);
    f.scaling_seqlen = 1;
    set_mask(options, f);
  }

  /// Number of pairs with rows, then with keys, of the chunk that begins at `first` whose count is not what the mask
  /// says; the first is described.
  int64_t wrong_pairs(int64_t first, std::string& description) {
    const double sigmoid = 1 / (1 + std::exp(-2.0)), weight = 2 * sigmoid;
    const double slope = 2 * sigmoid * (1 + 2 * (1 - sigmoid));  // times alpha
    hstu_attention_args& f = args_.forward;
    test::fill(f.v, 1);
    set_units(f.q, first), set_units(args_.dout, first), test::fill(f.k, 1);
    int64_t wrong = compare({{&args_.dk, slope}, {&args_.dv, weight}}, first, true, description);
    set_units(f.k, first), test::fill(f.q, 1), test::fill(args_.dout, 1 / static_cast<double>(kDim));
    wrong += compare({{&args_.dq, slope}}, first, false, description);
    return wrong;
  }

 private:
  void set_units(const hstu_tensor& t, int64_t first) {
    for (size_t b = 0; b < sequences_.size(); ++b)
      for (int64_t i = 0; i < sequences_[b].n; ++i) {
        std::vector<double> row(kDim, 0.0);
        if (i >= first && i < first + kDim) row[static_cast<size_t>(i - first)] = 1;
        store(t, (offsets_[b] + i) * t.stride[0], kDim, row.data());
      }
  }

  int64_t compare(const std::vector<std::pair<const hstu_tensor*, double>>& results, int64_t first, bool of_keys,
                  std::string& description) {
    test::DeviceCall call(memory_, Op::attention_backward, &args_);
    EXPECT_EQ(call.status(), HSTU_OK) << call.error();
    if (test::test_device()->compile_only) return 0;
    int64_t wrong = 0;
    for (const auto& [result, one] : results) {
      const auto values = test::values(call.after(*result));
      for (size_t b = 0; b < sequences_.size(); ++b)
        for (int64_t own = 0; own < sequences_[b].n; ++own)
          for (int64_t other = first; other < std::min<int64_t>(sequences_[b].n, first + kDim); ++other) {
            const int64_t i = of_keys ? other : own, j = of_keys ? own : other;
            const double count = values[static_cast<size_t>((offsets_[b] + own) * kDim + other - first)] / one;
            const bool seen = allowed(options_, i, j, sequences_[b]);
            if (std::fabs(count - seen) < 0.1) continue;
            if (wrong++ == 0 && description.empty())
              description = fmt::format("n={} T={} {}: {} has row {} and key {} {:.2f} times, not {}", sequences_[b].n,
                                        sequences_[b].targets, name_of_options(options_),
                                        !of_keys              ? "dq"
                                        : result == &args_.dk ? "dk"
                                                              : "dv",
                                        i, j, count, int{seen});
          }
    }
    return wrong;
  }

  std::vector<Sequence> sequences_;
  Options options_;
  HostMemory memory_;
  std::vector<int64_t> offsets_;
  hstu_attention_backward_args args_{};
};

TEST(GradientPairs, AllSmallSequencesWithAllOptions) {
  HSTU_NEEDS_DEVICE();
  std::vector<Sequence> sequences;
  for (int64_t n = 0; n <= 8; ++n)
    for (int64_t targets = 0; targets <= n + 1; ++targets) sequences.push_back({n, targets});
  std::string description;
  for (const hstu_dtype dtype : {HSTU_DTYPE_BF16, HSTU_DTYPE_F32})
    for (const hstu_mask kind : {HSTU_MASK_CAUSAL, HSTU_MASK_FULL})
      for (const auto& [contextual, window, full] : {std::array<int64_t, 3>{0, 0, 0},
                                                     {1, 0, 0},
                                                     {3, 0, 0},
                                                     {0, 1, 0},
                                                     {0, 3, 0},
                                                     {0, 2, 2},
                                                     {1, 2, 1},
                                                     {2, 1, 0},
                                                     {3, 2, 0},
                                                     {3, 4, 1},
                                                     {4, 1, 3},
                                                     {2, 5, 0}})
        for (const int64_t group : {1, 2}) {
          const Options options{contextual, window, full, true, kind, group};
          ASSERT_EQ(GradientCounter(dtype, sequences, options).wrong_pairs(0, description), 0) << description;
        }
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
}

class LongGradientPairs : public testing::TestWithParam<Options> {};

TEST_P(LongGradientPairs, AcrossTileEdges) {
  HSTU_NEEDS_DEVICE();
  const std::vector<Sequence> sequences{{385, 0}, {129, 7}, {64, 64}, {300, 130},
                                        {65, 66}, {256, 1}, {1, 0},   {127, 127}};
  std::string description;
  for (const hstu_dtype dtype : {HSTU_DTYPE_BF16, HSTU_DTYPE_F32}) {
    GradientCounter counter(dtype, sequences, GetParam());
    for (int64_t first = 0; first < 385; first += GradientCounter::kDim)
      ASSERT_EQ(counter.wrong_pairs(first, description), 0) << description;
  }
  if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
}

INSTANTIATE_TEST_SUITE_P(FullOptions, LongGradientPairs, testing::ValuesIn(kFullOptions),
                         [](const auto& options) { return name_of_options(options.param); });

}  // namespace
}  // namespace hstujit
