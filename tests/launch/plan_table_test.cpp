// The table of plans: finds what was put in, keeps the first of two, and lets readers run beside a writer.
#include "launch/plan_table.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace hstujit {
namespace {

Problem problem_number(int32_t i) {
  Problem problem{Op::addmm, {}};
  problem[0] = i;
  return problem;
}

std::unique_ptr<Plan> plan_number(int32_t i) {
  auto plan = std::make_unique<Plan>();
  plan->problem = problem_number(i);
  return plan;
}

TEST(PlanTable, FindsNothingInAnEmptyTable) { EXPECT_EQ(PlanTable().find(problem_number(1)), nullptr); }

TEST(PlanTable, FindsEveryPlanAfterGrowing) {
  constexpr int32_t kCount = 5000;
  PlanTable table;
  for (int32_t i = 0; i < kCount; ++i) table.insert(plan_number(i));
  EXPECT_EQ(table.size(), size_t{kCount});
  for (int32_t i = 0; i < kCount; ++i) {
    const Plan* plan = table.find(problem_number(i));
    ASSERT_NE(plan, nullptr) << i;
    EXPECT_EQ(plan->problem, problem_number(i));
  }
  EXPECT_EQ(table.find(problem_number(kCount)), nullptr);
}

TEST(PlanTable, KeepsTheFirstOfTwoPlansForOneProblem) {
  PlanTable table;
  const Plan* first = &table.insert(plan_number(7));
  EXPECT_EQ(&table.insert(plan_number(7)), first);
  EXPECT_EQ(table.size(), 1u);
}

TEST(PlanTable, AReplacedPlanIsFoundNoMoreAndStaysValid) {
  PlanTable table;
  const Plan* first = &table.insert(plan_number(7));
  table.insert(plan_number(8));
  const Plan* second = &table.replace(plan_number(7));
  EXPECT_NE(first, second);
  EXPECT_EQ(table.find(problem_number(7)), second);
  EXPECT_EQ(first->problem, problem_number(7));
  EXPECT_EQ(table.size(), 2u);
  for (int32_t i = 100; i < 1000; ++i) table.insert(plan_number(i));
  EXPECT_EQ(table.find(problem_number(7)), second) << "also in a grown table";
  const Plan* inserted = &table.replace(plan_number(2000));
  EXPECT_EQ(table.find(problem_number(2000)), inserted) << "replacing nothing is an insertion";
}

TEST(PlanTable, ReadersBesideAWriterSeeNothingOrTheRightPlan) {
  constexpr int32_t kCount = 4000;
  PlanTable table;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r)
    readers.emplace_back([&] {
      for (int32_t i = 0; !done.load(); i = (i + 1) % kCount) {
        const Plan* plan = table.find(problem_number(i));
        if (plan && !(plan->problem == problem_number(i))) wrong.fetch_add(1);
      }
    });
  for (int32_t i = 0; i < kCount; ++i) table.insert(plan_number(i));
  for (int32_t i = 0; i < 200; ++i) table.replace(plan_number(i * 7));
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace hstujit
