// The references of positions, times and products of jagged rows: checksums and examples of the specification.
#include "operators/on_host.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hstujit::reference {
namespace {

/// Tensor `id` of the appendix, in f32.
std::vector<float> generated(int id, size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>((static_cast<double>((37 * i + 11 * static_cast<size_t>(id)) % 23) - 11) / 11);
  return out;
}

void expect_sums(const std::vector<double>& y, double s0, double s1) {
  double got0 = 0, got1 = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    got0 += y[i];
    got1 += static_cast<double>(i + 1) * y[i];
  }
  EXPECT_NEAR(got0, s0, 2e-6);
  EXPECT_NEAR(got1, s1, 2e-5);
}

template <class Args>
std::vector<double> exact(Args args, size_t count) {
  args.struct_size = sizeof args;
  prepare(args);
  std::vector<double> out(count, std::nan(""));
  double* const outputs[] = {out.data()};
  run(args, outputs);
  return out;
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

hstu_tensor matrix(const std::vector<float>& values, int64_t rows, int64_t columns) {
  return hstu_matrix(values.data(), HSTU_DTYPE_F32, rows, columns);
}

TEST(PositionReference, TimestampChecksumsOfTheAppendix) {
  const auto x = generated(21, 18), positions = generated(22, 10), times = generated(23, 22);
  std::vector<float> out(18);
  const std::vector<int64_t> offsets{0, 6, 6, 9}, targets{2, 0, 1},
      seconds{1000, 1050, 1300, 2000, 9000, 9100, 50, 400, 4000};
  hstu_add_timestamp_positional_embeddings_args args{};
  args.x = matrix(x, 9, 2);
  args.position_embeddings = matrix(positions, 5, 2);
  args.timestamp_embeddings = matrix(times, 11, 2);
  args.seq_offsets = vector(offsets);
  args.timestamps = vector(seconds);
  args.num_targets = vector(targets);
  args.out = matrix(out, 9, 2);
  args.alpha = 0.5f;
  args.max_contextual_seq_len = 1;
  expect_sums(exact(args, 18), -0.590909091, 7.09090909);
  args.time_bucket_fn = HSTU_TIME_BUCKET_LOG;
  expect_sums(exact(args, 18), 3.77272727, 38.9090909);
}

TEST(PositionReference, ProductChecksumOfTheAppendix) {
  const auto jagged = generated(17, 15), dense = generated(18, 18), bias = generated(19, 6);
  std::vector<float> out(10);
  const std::vector<int64_t> offsets{0, 2, 2, 5};
  hstu_jagged_dense_bmm_broadcast_add_args args{};
  args.jagged = matrix(jagged, 5, 3);
  args.dense = hstu_heads(dense.data(), HSTU_DTYPE_F32, 3, 3, 2);
  args.bias = matrix(bias, 3, 2);
  args.seq_offsets = vector(offsets);
  args.out = matrix(out, 5, 2);
  expect_sums(exact(args, 10), -0.570247934, -7.03305785);
}

/// The position of each row of one sequence: its row of a table that holds its own numbers.
struct Positions {
  int64_t rows, targets;
  int64_t table = 100, contextual = 0;
  int32_t interleave = 0;
};

template <class Args>
std::vector<double> positions_of(Args args, const Positions& p) {
  std::vector<float> x(static_cast<size_t>(p.rows)), table;
  for (int64_t i = 0; i < p.table; ++i) table.push_back(static_cast<float>(i));
  const std::vector<int64_t> offsets{0, p.rows}, targets{p.targets};
  args.x = args.out = matrix(x, p.rows, 1);
  args.position_embeddings = matrix(table, p.table, 1);
  args.seq_offsets = vector(offsets);
  args.num_targets = vector(targets);
  args.interleave_targets = p.interleave;
  return exact(args, static_cast<size_t>(p.rows));
}

std::vector<double> backwards(const Positions& p) {
  const std::vector<int64_t> seconds(static_cast<size_t>(p.rows), 7);
  const std::vector<float> zero(1);
  hstu_add_timestamp_positional_embeddings_args args{};
  args.timestamps = vector(seconds);
  args.timestamp_embeddings = matrix(zero, 1, 1);
  args.max_contextual_seq_len = p.contextual;
  return positions_of(args, p);
}

using Numbers = std::vector<double>;

TEST(PositionReference, HistoryCountsBackwards) {
  EXPECT_EQ(backwards({.rows = 8, .targets = 2, .contextual = 2}), (Numbers{0, 1, 6, 5, 4, 3, 2, 2}));
  EXPECT_EQ(backwards({.rows = 8, .targets = 2, .table = 6, .contextual = 2}), (Numbers{0, 1, 5, 5, 4, 3, 2, 2}));
  EXPECT_EQ(backwards({.rows = 8, .targets = 0}), (Numbers{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(backwards({.rows = 9, .targets = 2, .interleave = 1}), (Numbers{5, 4, 3, 2, 1, 0, 0, 0, 0}));
  EXPECT_EQ(backwards({.rows = 3, .targets = 2, .interleave = 1}), (Numbers{0, 0, 0}));
}

TEST(PositionReference, PositionsCountForwards) {
  const hstu_add_positional_embeddings_args args{};
  EXPECT_EQ(positions_of(args, {.rows = 8, .targets = 2}), (Numbers{0, 1, 2, 3, 4, 5, 6, 6}));
  EXPECT_EQ(positions_of(args, {.rows = 8, .targets = 2, .table = 5}), (Numbers{0, 1, 2, 3, 4, 4, 4, 4}));
  EXPECT_EQ(positions_of(args, {.rows = 3, .targets = 9}), (Numbers{0, 0, 0}));
}

TEST(PositionReference, MoreTargetsThanRowsAreAllOfThem) {
  for (const int64_t targets : {int64_t{9}, int64_t{1} << 62, kMost}) {
    for (const int32_t interleave : {0, 1}) {
      EXPECT_EQ(backwards({.rows = 3, .targets = targets, .interleave = interleave}), (Numbers{0, 0, 0}));
      EXPECT_EQ(backwards({.rows = 4, .targets = targets, .contextual = 2, .interleave = interleave}),
                (Numbers{0, 1, 2, 2}));
      EXPECT_EQ(positions_of(hstu_add_positional_embeddings_args{},
                             {.rows = 3, .targets = targets, .interleave = interleave}),
                (Numbers{0, 0, 0}));
    }
    EXPECT_EQ(backwards({.rows = 4, .targets = 1, .contextual = targets}), (Numbers{0, 1, 2, 3}));
  }
}

/// The bucket of one time: the row of a table that holds its own numbers.
double bucket_of(int64_t time, int64_t query_time, hstu_time_bucket_fn function, float increments = 60) {
  std::vector<float> x(2), zero(1), table;
  for (int i = 0; i < 2000; ++i) table.push_back(static_cast<float>(i));
  const std::vector<int64_t> offsets{0, 2}, seconds{time, query_time};
  hstu_add_timestamp_positional_embeddings_args args{};
  args.x = args.out = matrix(x, 2, 1);
  args.position_embeddings = matrix(zero, 1, 1);
  args.timestamp_embeddings = matrix(table, 2000, 1);
  args.seq_offsets = vector(offsets);
  args.timestamps = vector(seconds);
  args.time_bucket_fn = function;
  args.time_bucket_increments = increments;
  return exact(args, 2)[0];
}
double bucket_of(int64_t age, hstu_time_bucket_fn function) {
  return bucket_of(1'750'000'000 - age, 1'750'000'000, function);
}

TEST(PositionReference, BucketsHaveTheSpecifiedEdges) {
  const auto root = [](int64_t age) { return bucket_of(age, HSTU_TIME_BUCKET_SQRT); };
  const auto log = [](int64_t age) { return bucket_of(age, HSTU_TIME_BUCKET_LOG); };
  EXPECT_EQ((Numbers{root(59), root(60), root(239), root(240), root(3600), root(86400), root(-5)}),
            (Numbers{0, 1, 1, 2, 7, 37, 0}));
  EXPECT_EQ((Numbers{log(163), log(164), log(443), log(444), log(3600), log(86400), log(0)}),
            (Numbers{0, 1, 1, 2, 4, 7, 0}));
}

TEST(PositionReference, TimesAreAsFarApartAsTheyAre) {
  for (const hstu_time_bucket_fn function : {HSTU_TIME_BUCKET_SQRT, HSTU_TIME_BUCKET_LOG}) {
    const double last = function == HSTU_TIME_BUCKET_LOG ? 40 : 1999;  // ln(2^64 / 60) = 40.3
    EXPECT_EQ(bucket_of(kLeast, kMost, function), last);
    EXPECT_EQ(bucket_of(kMost, kLeast, function), 0);
    EXPECT_EQ(bucket_of(kMost, -1, function), 0);
    EXPECT_EQ(bucket_of(kMost - 59, kMost, function), 0);
    EXPECT_EQ(bucket_of(kLeast, kLeast + 59, function), 0);
  }
}

TEST(PositionReference, BucketsBeyondAllIntegersAreTheLast) {
  for (const hstu_time_bucket_fn function : {HSTU_TIME_BUCKET_SQRT, HSTU_TIME_BUCKET_LOG})
    for (const float increments : {1e-30f, 1e-45f})  // of which there are more than the largest float
      EXPECT_EQ(bucket_of(0, 1'000'000'000, function, increments), 1999);
  EXPECT_EQ(bucket_of(0, 100, HSTU_TIME_BUCKET_SQRT, 1e-38f), 1999);  // 1e20
}

TEST(PositionReference, NegativeTargetsAreRefused) { EXPECT_THROW(backwards({.rows = 3, .targets = -1}), Error); }

}  // namespace
}  // namespace hstujit::reference
