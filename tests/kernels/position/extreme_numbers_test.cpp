// Positions and times on the device with numbers at the ends of their types: targets, timestamps, and increments that
// make buckets infinite.
#include "support/device_call.hpp"
#include "support/extreme_targets.hpp"

#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
const std::vector<int64_t> kLengths{30, 0, 1, 77, 12, 45};

hstu_add_positional_embeddings_args positional_args(HostMemory& memory, int32_t interleaved) {
  const auto offsets = test::offsets_of(kLengths);
  auto args = sized<hstu_add_positional_embeddings_args>();
  args.x = memory.random(HSTU_DTYPE_BF16, {offsets.back(), 64});
  args.out = memory.poison(HSTU_DTYPE_BF16, {offsets.back(), 64});
  args.position_embeddings = memory.random(HSTU_DTYPE_BF16, {50, 64});
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, offsets);
  args.interleave_targets = interleaved;
  return args;
}

hstu_add_timestamp_positional_embeddings_args timestamp_args(HostMemory& memory, const std::vector<int64_t>& times,
                                                             int32_t interleaved) {
  const hstu_add_positional_embeddings_args like = positional_args(memory, interleaved);
  auto args = sized<hstu_add_timestamp_positional_embeddings_args>();
  args.x = like.x, args.out = like.out;
  args.position_embeddings = like.position_embeddings, args.seq_offsets = like.seq_offsets;
  args.timestamp_embeddings = memory.random(HSTU_DTYPE_BF16, {40, 64});
  std::vector<int64_t> all;
  for (int64_t i = 0; i < args.x.shape[0]; ++i) all.push_back(times[static_cast<size_t>(i) % times.size()]);
  args.timestamps = memory.integers(HSTU_DTYPE_I64, all);
  args.interleave_targets = interleaved;
  return args;
}

template <class Args>
void expect_rows(HostMemory& memory, const Args& args) {
  test::expect_correct(memory, args, &Args::out, test::rounded_once(HSTU_DTYPE_BF16));
}

TEST(ExtremeNumbersOfPositions, TargetsAreAllOrNone) {
  HSTU_NEEDS_DEVICE();
  for (const int32_t interleaved : {0, 1})
    for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64}) {
      HostMemory memory;
      auto positions = positional_args(memory, interleaved);
      auto times = timestamp_args(memory, {0, 100, 5000}, interleaved);
      times.max_contextual_seq_len = 2;
      positions.num_targets = times.num_targets =
          test::as_many_as_there_are(memory, dtype, static_cast<int64_t>(kLengths.size()));
      expect_rows(memory, positions);
      expect_rows(memory, times);
    }
}

TEST(ExtremeNumbersOfPositions, TargetsBelowZeroAreNone) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto positions = positional_args(memory, 1);
  auto times = timestamp_args(memory, {0, 100, 5000}, 1);
  positions.num_targets = times.num_targets = memory.integers(HSTU_DTYPE_I64, std::vector<int64_t>(kLengths.size(), 0));
  const test::Tolerance tolerance = test::rounded_once(HSTU_DTYPE_BF16);
  test::expect_no_targets<hstu_add_positional_embeddings_args>(
      memory, positions, {{&hstu_add_positional_embeddings_args::out, tolerance}});
  test::expect_no_targets<hstu_add_timestamp_positional_embeddings_args>(
      memory, times, {{&hstu_add_timestamp_positional_embeddings_args::out, tolerance}});
}

TEST(ExtremeNumbersOfPositions, AnyContextualLengthWillDo) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t contextual : {int64_t{1} << 31, int64_t{1} << 40, kMost}) {
    HostMemory memory;
    auto args = timestamp_args(memory, {0, 100, 5000}, 0);
    args.max_contextual_seq_len = contextual;
    expect_rows(memory, args);
  }
}

TEST(ExtremeNumbersOfTimes, AreAsFarApartAsTheyAre) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_time_bucket_fn function : {HSTU_TIME_BUCKET_SQRT, HSTU_TIME_BUCKET_LOG})
    for (const int64_t query : {kLeast, int64_t{-1}, int64_t{0}, kMost}) {
      HostMemory memory;
      auto args = timestamp_args(memory, {kLeast, kMost, 0, -1, 1, kLeast + 1, kMost - 1}, 0);
      args.query_time = memory.integers(HSTU_DTYPE_I64, std::vector<int64_t>(kLengths.size(), query));
      args.time_bucket_fn = function;
      expect_rows(memory, args);
      args.query_time = {};
      expect_rows(memory, args);
    }
}

TEST(ExtremeNumbersOfTimes, SmallIncrementsLeadToTheLastBucket) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_time_bucket_fn function : {HSTU_TIME_BUCKET_SQRT, HSTU_TIME_BUCKET_LOG})
    for (const float increments : {1e-30f, 1e-45f, 3e38f}) {
      HostMemory memory;
      auto args = timestamp_args(memory, {kLeast, 0, 1'000'000, 1'000'000'000}, 0);
      args.time_bucket_fn = function;
      args.time_bucket_increments = increments;
      expect_rows(memory, args);
    }
}

}  // namespace
}  // namespace hstujit
