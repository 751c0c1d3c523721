// The table of records in memory: exact and nearest.
#include "records/winners.hpp"

#include "operators/attention/attention.hpp"
#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hstujit {
namespace {

using test::kDevice;
using test::rows_problem;

Record record_of(const Problem& problem, const std::string& config, const std::string& device_class = kDevice) {
  const Job job = test::job("0123456789abcdef0123456789abcdef", problem);
  return {problem, device_class, job.uid, job.evidence, test::trial(config, 5'000, Stage::finals), 6'000};
}

Problem attention_problem(int32_t batch, int32_t total, int32_t max_seq_len, int32_t heads = 4) {
  Problem p{Op::attention, {}};
  p[attention::kDtype] = HSTU_DTYPE_BF16;
  p[attention::kHeadDimQk] = p[attention::kHeadDimV] = 128;
  p[attention::kNumHeads] = heads;
  p[attention::kBatch] = batch;
  p[attention::kTotal] = total;
  p[attention::kMaxSeqLen] = max_seq_len;
  return p;
}

TEST(Winners, GivesBackWhatWasAdded) {
  Winners winners;
  const Record in = record_of(rows_problem(4096), "tile=32 stages=2");
  winners.add(in);
  const auto out = winners.find(in.problem, kDevice);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->trial, in.trial);
  EXPECT_EQ(out->evidence, in.evidence);
  EXPECT_EQ(out->job, in.job);
  EXPECT_EQ(out->standard_ns, 6'000);
  EXPECT_EQ(out->device_class, kDevice);
}

TEST(Winners, KeepsDevicesAndProblemsApart) {
  Winners winners;
  winners.add(record_of(rows_problem(4096), "tile=32 stages=2"));
  EXPECT_FALSE(winners.find(rows_problem(4096), "NVIDIA A10 sm_86"));
  EXPECT_FALSE(winners.find(rows_problem(8192), kDevice));
  EXPECT_FALSE(Winners().find(rows_problem(4096), kDevice));
}

TEST(Winners, TheLaterRecordOfAProblemReplacesTheEarlier) {
  Winners winners;
  winners.add(record_of(rows_problem(4096), "tile=32 stages=2"));
  winners.add(record_of(rows_problem(4096), "tile=64 stages=2"));
  EXPECT_EQ(winners.size(), 1u);
  EXPECT_EQ(winners.find(rows_problem(4096), kDevice)->trial.config, "tile=64 stages=2");
}

TEST(Winners, DistanceCountsDoublingsOfBuckets) {
  EXPECT_EQ(distance(rows_problem(1024), rows_problem(1024)), 0);
  EXPECT_EQ(distance(rows_problem(1024), rows_problem(8192)), 3);
  EXPECT_EQ(distance(rows_problem(8192), rows_problem(1024)), 3);
  EXPECT_EQ(distance(rows_problem(0), rows_problem(1)), 1);
}

TEST(Winners, DistanceIsNotOneOfVolumes) {
  // 128 sequences of 1 token and 1 sequence of 128 tokens have equal volume and are far apart.
  EXPECT_GT(distance(attention_problem(128, 128, 1), attention_problem(1, 128, 128)), 7);
}

TEST(Winners, DistanceIsInfiniteAcrossExactFieldsAndOperators) {
  EXPECT_TRUE(std::isinf(distance(rows_problem(1024, 512), rows_problem(1024, 256))));
  EXPECT_TRUE(std::isinf(distance(attention_problem(1, 128, 128, 4), attention_problem(1, 128, 128, 8))));
  EXPECT_TRUE(std::isinf(distance(rows_problem(1024), attention_problem(1, 128, 128))));
}

TEST(Winners, NeighboursComeNearestFirst) {
  Winners winners;
  for (const int32_t rows : {256, 65536, 2048, 16384}) winners.add(record_of(rows_problem(rows), "tile=32 stages=2"));
  winners.add(record_of(rows_problem(4096, 256), "tile=32 stages=2"));
  winners.add(record_of(rows_problem(4096), "tile=32 stages=2", "NVIDIA A10 sm_86"));
  const auto near = winners.neighbours(rows_problem(4096), kDevice, 3);
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].record.problem, rows_problem(2048));
  EXPECT_EQ(near[0].distance, 1);
  EXPECT_EQ(near[1].record.problem, rows_problem(16384));
  EXPECT_EQ(near[2].distance, 4);  // 256 and 65536 tie; the smaller comes first
  EXPECT_EQ(near[2].record.problem, rows_problem(256));
}

TEST(Winners, AllIsSortedByDeviceAndText) {
  Winners winners;
  winners.add(record_of(rows_problem(4096), "x=1", "b"));
  winners.add(record_of(rows_problem(1024), "x=1", "b"));
  winners.add(record_of(rows_problem(4096), "x=1", "a"));
  const auto all = winners.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].device_class, "a");
  EXPECT_LT(text(all[1].problem), text(all[2].problem));
}

TEST(Winners, AnswersFromThousandsOfRecords) {
  Winners winners;
  for (int32_t i = 0; i < 20'000; ++i) winners.add(record_of(rows_problem(4096, i + 1), "tile=32 stages=2"));
  EXPECT_EQ(winners.size(), 20'000u);
  for (int32_t i = 0; i < 20'000; i += 97) EXPECT_TRUE(winners.find(rows_problem(4096, i + 1), kDevice)) << i;
  EXPECT_FALSE(winners.find(rows_problem(4096, 20'001), kDevice));
}

// ---- Tables over others

TEST(Winners, ATableOverAnotherAnswersAsOneWithAllOfIt) {
  const auto sum_of = [](const Winners& winners) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Record& r : winners.all()) out.emplace_back(r.device_class + text(r.problem), r.trial.config);
    return out;
  };
  Winners plain;  // grows by the same steps
  auto shared = std::make_shared<const Winners>();
  std::vector<std::shared_ptr<const Winners>> earlier;
  for (int32_t step = 0; step < 3000; ++step) {
    const int32_t rows = 1 << (step * 7 % 23), dim = 8 + step * 13 % 211;
    Winners next = Winners::over(shared);
    if (step % 5 == 4) {
      next.remove(rows_problem(rows, dim), kDevice);
      plain.remove(rows_problem(rows, dim), kDevice);
    } else {
      const std::string device = step % 3 ? kDevice : "another";
      const Record record = record_of(rows_problem(rows, dim), "tile=" + std::to_string(step), device);
      next.add(record);
      plain.add(record);
    }
    shared = std::make_shared<const Winners>(std::move(next));
    if (step % 500 == 0) earlier.push_back(shared);
    ASSERT_EQ(shared->size(), plain.size()) << step;
    ASSERT_EQ(shared->find(rows_problem(rows, dim), kDevice).has_value(),
              plain.find(rows_problem(rows, dim), kDevice).has_value());
  }
  EXPECT_GT(plain.size(), 1500u) << "more than one table keeps in hand";
  EXPECT_EQ(sum_of(*shared), sum_of(plain));
  EXPECT_EQ(shared->size(), shared->all().size());
  const auto near = shared->neighbours(rows_problem(64, 21), kDevice, 9),
             expected = plain.neighbours(rows_problem(64, 21), kDevice, 9);
  ASSERT_EQ(near.size(), expected.size());
  for (size_t i = 0; i < near.size(); ++i) EXPECT_EQ(near[i].record.problem, expected[i].record.problem);
  const auto reread = Winners::of_bytes(shared->bytes());
  ASSERT_TRUE(reread);
  EXPECT_EQ(sum_of(*reread), sum_of(plain));
  EXPECT_EQ(earlier.front()->size(), 1u) << "a table in use stays as it is";
}

}  // namespace
}  // namespace hstujit
