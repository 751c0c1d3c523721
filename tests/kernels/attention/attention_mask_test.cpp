// Which pairs the device's attention really adds up: with equal scores everywhere and one-hot values, each result
// counts how often a row took a key. Missing, forbidden and doubled pairs all show.
#include "operators/attention/mask.hpp"
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr int64_t kHeads = 1, kDimQk = 32;

struct Options {
  int64_t contextual, max_attn_len, min_full;
  bool targets;
};

std::string name_of_options(const Options& o) {
  return fmt::format("C{}W{}F{}{}", o.contextual, o.max_attn_len, o.min_full, o.targets ? "T" : "");
}

void PrintTo(const Options& o, std::ostream* out) { *out << name_of_options(o); }

struct Sequence {
  int64_t n, targets;
};

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
    args_.mask.contextual_seq_len = options.contextual;
    args_.mask.max_attn_len = options.max_attn_len;
    args_.mask.min_full_attn_seq_len = options.min_full;
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
        const bool allowed =
            reference::allowed(i, j, s.n, options_.contextual, targets, options_.max_attn_len, options_.min_full);
        if (std::fabs(count - allowed) < 0.1) continue;
        if (wrong++ == 0 && description.empty())
          description =
              fmt::format("n={} T={} C={} W={} F={}: row {} took key {} {:.2f} times, not {}", s.n, targets,
                          options_.contextual, options_.max_attn_len, options_.min_full, i, j, count, int{allowed});
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
          ASSERT_EQ(PairCounter(sequences, {contextual, window, full, targets}, 8).wrong_pairs(0, description), 0)
              << description;
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

}  // namespace
}  // namespace hstujit
