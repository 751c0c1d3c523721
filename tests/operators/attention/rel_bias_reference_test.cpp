// The reference of the relative bias by hand: the next item's time, the positions' order, buckets and their last one.
#include "operators/attention/rel_bias.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <limits>

namespace hstujit {
namespace {

using Args = hstu_rel_bias_args;

TEST(RelBiasReference, BucketsAreTruncatedLogarithms) {
  // e^0.301 = 1.35, e^0.602 = 1.83, e^0.903 = 2.47, e^3.01 = 20.3; an hour is 8.19 / 0.301 = 27.2
  EXPECT_EQ(rel_bias::bucket_of(0), 0);
  EXPECT_EQ(rel_bias::bucket_of(1), 0);
  EXPECT_EQ(rel_bias::bucket_of(2), 2);
  EXPECT_EQ(rel_bias::bucket_of(3), 3);
  EXPECT_EQ(rel_bias::bucket_of(20), 9);
  EXPECT_EQ(rel_bias::bucket_of(21), 10);
  EXPECT_EQ(rel_bias::bucket_of(3600), 27);
  EXPECT_EQ(rel_bias::bucket_of(0x1p64f), rel_bias::kLastBucket);
}

/// rab of three timestamps.
test::Exact rab_of(const std::vector<int64_t>& timestamps) {
  test::HostMemory memory;
  Args args{};
  args.struct_size = sizeof args;
  args.timestamps = memory.integers(HSTU_DTYPE_I64, timestamps);
  args.timestamps.rank = 2;
  args.timestamps.shape[0] = 1, args.timestamps.shape[1] = 3;
  args.timestamps.stride[0] = 3, args.timestamps.stride[1] = 1;
  args.position_weights = memory.floats({0.1f, 0.2f, 0.3f, 0.4f, 0.5f});
  args.time_weights = memory.floats({10, 20, 30, 40, 50, 60, 70, 80, 90});  // buckets to 8
  for (hstu_tensor* t : {&args.position_weights, &args.time_weights}) {
    t->rank = 2;
    t->shape[1] = t->shape[0], t->shape[0] = 1;
    t->stride[0] = t->shape[1], t->stride[1] = 1;
  }
  args.rab = memory.poison(HSTU_DTYPE_F32, {1, 1, 3, 3});
  return test::exact_result(args, &Args::rab);
}

TEST(RelBiasReference, AddsPositionAndTimeOfTheNextItem) {
  const auto rab = rab_of({100, 102, 123});
  // Differences of the rows' next times, 102, 123 and 123, to 100, 102 and 123: {2, 0, 21}, {23, 21, 0} twice. Those of
  // 21 and 23 would be in bucket 10.
  const double expected[] = {0.3 + 30, 0.4 + 10, 0.5 + 90, 0.2 + 90, 0.3 + 90, 0.4 + 10, 0.1 + 90, 0.2 + 90, 0.3 + 10};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(rab[i], expected[i], 1e-6) << i;
}

TEST(RelBiasReference, TimesAtBothEndsAreFarApart) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  const auto rab = rab_of({kLeast, kMost, kLeast});
  // Next times: most, least, least. Whatever is not the same is in the last bucket.
  const double expected[] = {0.3 + 90, 0.4 + 10, 0.5 + 90, 0.2 + 10, 0.3 + 90, 0.4 + 10, 0.1 + 10, 0.2 + 90, 0.3 + 10};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(rab[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace hstujit
