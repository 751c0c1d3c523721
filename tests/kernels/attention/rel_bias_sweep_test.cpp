// The relative bias on the device against the oracle: element types, tables, heads, times in and out of order, near and
// farther apart than 32 bits, extents off every vector width, layouts.
#include "operators/attention/rel_bias.hpp"
#include "support/large.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

enum class Times { rising, falling, shuffled, alike, jumping, far, farthest };

struct Case {
  const char* name;
  hstu_dtype dtype = HSTU_DTYPE_BF16, table = HSTU_DTYPE_F32;
  int64_t batch = 3, heads = 1, positions = 200, buckets = 128;
  int64_t position_heads = 1, time_heads = 1;
  Times times = Times::rising;
  Layout layout{};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

int64_t step(Times times, Random& random) {
  constexpr uint64_t kDay = 86400;
  switch (times) {
    case Times::rising:
    case Times::shuffled:
      return static_cast<int64_t>(random.below(random.below(4) == 0 ? kDay : 90));  // also none
    case Times::falling:
      return -static_cast<int64_t>(random.below(kDay));
    case Times::alike:
      return 0;
    case Times::jumping:
      return static_cast<int64_t>(random.below(200) == 0 ? uint64_t{1} << 33 : random.below(kDay));
    case Times::far:
    case Times::farthest:
      return static_cast<int64_t>(random.below(uint64_t{1} << 40));
  }
  return 0;
}

hstu_tensor timestamps(HostMemory& memory, const Case& c) {
  Random& random = memory.random_numbers();
  std::vector<int64_t> all;
  for (int64_t b = 0; b < c.batch; ++b) {
    int64_t time = 1'700'000'000;
    for (int64_t i = 0; i < c.positions; ++i) {
      time += step(c.times, random);
      const auto jump = static_cast<int64_t>(random.below(uint64_t{1} << 24));
      all.push_back(c.times == Times::shuffled ? time - jump : time);
      if (c.times == Times::farthest && i % 3 == 0)
        all.back() = i % 2 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
    }
  }
  hstu_tensor t = memory.integers(HSTU_DTYPE_I64, all);
  t.rank = 2;
  t.shape[0] = c.batch, t.shape[1] = c.positions;
  t.stride[0] = c.positions, t.stride[1] = 1;
  return t;
}

class RelBiasSweep : public testing::TestWithParam<Case> {};

TEST_P(RelBiasSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  hstu_rel_bias_args args{};
  args.struct_size = sizeof args;
  args.timestamps = timestamps(memory, c);
  args.position_weights =
      memory.random(c.table, {c.position_heads, std::max<int64_t>(2 * c.positions - 1, 0)}, c.layout);
  args.time_weights = memory.random(c.table, {c.time_heads, c.buckets + 1}, c.layout);
  args.rab = memory.poison(c.dtype, {c.batch, c.heads, c.positions, c.positions}, c.layout);
  test::expect_correct(memory, args, &hstu_rel_bias_args::rab, test::rounded_sum(c.dtype));
}

std::vector<Case> cases() {
  constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;
  return {{.name = "Usual"},
          {.name = "F32", .dtype = kF32},
          {.name = "F16", .dtype = kF16, .table = kF16},
          {.name = "NarrowTables", .dtype = kF32, .table = kBf16},
          {.name = "Heads", .heads = 3, .position_heads = 3, .time_heads = 3},
          {.name = "HeadsOfPositions", .heads = 2, .position_heads = 2},
          {.name = "HeadsOfTimes", .heads = 2, .time_heads = 2},
          {.name = "OneTableForAll", .heads = 4},
          {.name = "Falling", .times = Times::falling},
          {.name = "Shuffled", .dtype = kF32, .times = Times::shuffled},
          {.name = "ShuffledBf16", .times = Times::shuffled},
          {.name = "Alike", .times = Times::alike},
          {.name = "NearAndFar", .batch = 2, .positions = 904, .times = Times::jumping},
          {.name = "NearAndFarF32", .dtype = kF32, .batch = 1, .heads = 2, .positions = 708, .times = Times::jumping},
          {.name = "Far", .times = Times::far},
          {.name = "FarF32", .dtype = kF32, .times = Times::far},
          {.name = "AsFarAsCanBe", .buckets = 300, .times = Times::farthest},
          {.name = "FewBuckets", .buckets = 5},
          {.name = "OneBucket", .buckets = 0},
          {.name = "ManyBuckets", .buckets = 400, .times = Times::far},
          {.name = "OnePosition", .positions = 1},
          {.name = "MorePairsThanAGridIsDeep", .batch = 33000, .heads = 2, .positions = 3, .time_heads = 2},
          {.name = "NoPosition", .positions = 0},
          {.name = "NoSequence", .batch = 0},
          {.name = "Odd", .positions = 201},
          {.name = "OddF32", .dtype = kF32, .positions = 77},
          {.name = "Even", .positions = 90},
          {.name = "OfFour", .positions = 100, .times = Times::shuffled},
          {.name = "Long", .batch = 1, .positions = 1032},
          {.name = "LongF32", .dtype = kF32, .batch = 1, .positions = 516, .times = Times::shuffled},
          {.name = "LongF16", .dtype = kF16, .table = kF16, .batch = 1, .positions = 528, .times = Times::falling},
          {.name = "LongHeads",
           .batch = 2,
           .heads = 3,
           .positions = 520,
           .position_heads = 3,
           .time_heads = 3,
           .times = Times::shuffled},
          {.name = "LongAlike", .batch = 1, .heads = 2, .positions = 776, .time_heads = 2, .times = Times::alike},
          {.name = "LongFar", .batch = 1, .positions = 520, .buckets = 300, .times = Times::farthest},
          {.name = "LongFewBuckets", .batch = 1, .positions = 600, .buckets = 5},
          {.name = "LongOdd", .batch = 1, .positions = 515},
          {.name = "LongPadded", .batch = 2, .heads = 2, .positions = 568, .layout = {.row_padding = 8, .shift = 0}},
          {.name = "LongPaddedByLess", .batch = 1, .positions = 568, .layout = {.row_padding = 4, .shift = 0}},
          {.name = "LongPaddedF32",
           .dtype = kF32,
           .batch = 2,
           .heads = 2,
           .positions = 516,
           .layout = {.row_padding = 4, .shift = 0}},
          {.name = "LongUnaligned", .batch = 1, .positions = 520, .layout = {.row_padding = 3, .shift = 1}},
          {.name = "Padded", .heads = 2, .layout = {.row_padding = 8, .shift = 0}},
          {.name = "Unaligned", .layout = {.row_padding = 3, .shift = 1}}};
}

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Cases, RelBiasSweep, testing::ValuesIn(cases()), kNameOf);

/// Three ages about every edge of the buckets, the greatest first, and as many of 1 before those nearer than 2^29 as
/// make `positions`.
std::vector<int64_t> ages_about_edges(size_t positions) {
  std::vector<int64_t> ages;
  for (int64_t bucket = 143; bucket >= 1; --bucket) {
    int64_t below = 1, from = std::numeric_limits<int64_t>::max();  // the least age of the bucket
    while (from - below > 1) {
      const int64_t middle = below + (from - below) / 2;
      (rel_bias::bucket_of(static_cast<float>(middle)) < bucket ? below : from) = middle;
    }
    for (const int64_t age : {from + 1, from, from - 1}) ages.push_back(age);
  }
  const auto near = std::ranges::find_if(ages, [](int64_t age) { return age < int64_t{1} << 29; });
  ages.insert(near, positions - ages.size(), 1);
  return ages;
}

class RelBiasOnDevice : public testing::TestWithParam<size_t> {};

/// Weights say the bucket, a table of positions of zeros adds nothing. Of 768 positions the last third is near.
TEST_P(RelBiasOnDevice, PutsEveryAgeInItsBucket) {
  HSTU_NEEDS_RESULTS();
  const std::vector<int64_t> ages = ages_about_edges(GetParam());
  HostMemory memory;
  const auto n = static_cast<int64_t>(ages.size());
  std::vector<int64_t> times;
  for (const int64_t age : ages) times.push_back(-age);  // seen from 0, the time of the last
  times.back() = 0;
  hstu_rel_bias_args args{};
  args.struct_size = sizeof args;
  args.timestamps = memory.integers(HSTU_DTYPE_I64, times);
  args.timestamps.rank = 2;
  args.timestamps.shape[0] = 1, args.timestamps.shape[1] = n;
  args.timestamps.stride[0] = n, args.timestamps.stride[1] = 1;
  args.position_weights = memory.poison(HSTU_DTYPE_F32, {1, 2 * n - 1});
  test::fill(args.position_weights, 0);
  args.time_weights = memory.poison(HSTU_DTYPE_F32, {1, 148});
  for (int64_t k = 0; k < 148; ++k) static_cast<float*>(args.time_weights.data)[k] = static_cast<float>(k);
  args.rab = memory.poison(HSTU_DTYPE_F32, {1, 1, n, n});
  test::DeviceCall call(memory, Op::rel_bias, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  const std::vector<double> rab = test::values(call.after(args.rab));
  for (int64_t j = 0; j + 1 < n; ++j) {
    const int64_t age = ages[static_cast<size_t>(j)];
    EXPECT_EQ(rab[static_cast<size_t>((n - 1) * n + j)],
              static_cast<double>(rel_bias::bucket_of(static_cast<float>(age))))
        << age;
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, RelBiasOnDevice, testing::Values(429, 768), testing::PrintToStringParamName());

/// Where blocks take 16 rows, if threads store: the same sequence over and over.
TEST(RelBiasOfManySequences, EqualsTheOracle) {
  HSTU_NEEDS_LARGE_DEVICE();
  HostMemory host;
  test::LargeMemory memory;
  const Case c{.name = "", .batch = 1, .heads = 2, .positions = 600, .time_heads = 2};
  constexpr int64_t kSequences = 34;
  hstu_rel_bias_args args{};
  args.struct_size = sizeof args;
  args.timestamps = timestamps(host, c);
  args.position_weights = host.random(c.table, {1, 2 * c.positions - 1});
  args.time_weights = host.random(c.table, {2, c.buckets + 1});
  args.rab = host.poison(c.dtype, {c.batch, c.heads, c.positions, c.positions});
  hstu_rel_bias_args large = args;
  large.timestamps = test::repeated(memory, args.timestamps, kSequences);
  large.position_weights = test::repeated(memory, args.position_weights, 1);
  large.time_weights = test::repeated(memory, args.time_weights, 2);
  large.rab = test::repeated(memory, args.rab, kSequences);
  const std::string choice = test::choice_for(large);
  EXPECT_TRUE(choice.starts_with("rel_bias_sm90") || choice.find(" rows=16 ") != std::string::npos) << choice;
  test::expect_large(memory, large, args, &hstu_rel_bias_args::rab, test::rounded_sum(c.dtype));
}

}  // namespace
}  // namespace hstujit
