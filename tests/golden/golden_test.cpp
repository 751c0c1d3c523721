// The reference against upstream's own results, and the runner's judgement of good, bad and unknown cases.
#include "verify/golden.hpp"

#include "support/element.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace hstujit::verify {
namespace {

const std::filesystem::path kData = test::source_dir() / "tests/golden/data";

std::map<Outcome, int> count(const std::vector<CaseResult>& results) {
  std::map<Outcome, int> counts;
  for (const CaseResult& result : results) ++counts[result.outcome];
  return counts;
}

void expect_no_failure(const std::vector<CaseResult>& results) {
  for (const CaseResult& result : results)
    EXPECT_NE(result.outcome, Outcome::failed) << result.op << "/" << result.name << ": " << result.reason;
}

Safetensors stored(const char* path) { return Safetensors::read(kData / path); }

TEST(Goldens, ReferenceAgreesToTwoMillionthsOnWidenedInputs) {
  const auto results = run_goldens(kData, reference_executor(), Precision::f32);
  expect_no_failure(results);
  EXPECT_EQ(count(results)[Outcome::passed], 92);
  for (const CaseResult& result : results)
    for (const OutputError& output : result.outputs) EXPECT_LE(output.error, 2e-6) << result.name;
}

TEST(Goldens, ReferenceAgreesInTheStoredTypes) {
  const auto results = run_goldens(kData, reference_executor(), Precision::as_stored);
  expect_no_failure(results);
  EXPECT_EQ(count(results)[Outcome::passed], 92);
}

TEST(Goldens, EveryCaseHasAnOperator) {
  for (const CaseResult& result : run_goldens(kData, reference_executor(), Precision::f32))
    EXPECT_EQ(result.outcome, Outcome::passed) << result.op << "/" << result.name << ": " << result.reason;
}

TEST(Goldens, ErrorBeyondTheToleranceFailsTheCase) {
  const auto off_by = [](double factor) -> Executor {
    return [factor](const Operator& op, void* args) {
      reference_executor()(op, args);
      const auto& call = *static_cast<hstu_addmm_args*>(args);
      const int64_t count = call.z.shape[0] * call.z.shape[1];
      std::vector<double> z(static_cast<size_t>(count));
      load(call.z, 0, count, z.data());
      for (double& value : z) value *= factor;
      store(call.z, 0, count, z.data());
    };
  };
  const Safetensors file = stored("addmm/bias1d_bf16.safetensors");
  EXPECT_EQ(run_golden(file, off_by(1 + 1e-6), Precision::f32).outcome, Outcome::passed);
  EXPECT_EQ(run_golden(file, off_by(1 + 4e-6), Precision::f32).outcome, Outcome::failed);
  EXPECT_EQ(run_golden(file, off_by(1.005), Precision::as_stored).outcome, Outcome::passed);
  const CaseResult result = run_golden(file, off_by(1.02), Precision::as_stored);
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_TRUE(result.reason.starts_with("out: relative error 0.02")) << result.reason;
  EXPECT_TRUE(result.reason.ends_with(" exceeds 0.01")) << result.reason;
}

TEST(Goldens, OutputThatNobodyWroteFailsTheCase) {
  const Executor idle = [](const Operator&, void*) {};
  EXPECT_EQ(run_golden(stored("norm/ln_f32.safetensors"), idle, Precision::f32).outcome, Outcome::failed);
}

TEST(Goldens, ErrorOfTheDeviceFailsTheCaseWithItsText) {
  const Executor broken = [](const Operator&, void*) { fail(HSTU_ERROR_UNSUPPORTED, "no family"); };
  const CaseResult result = run_golden(stored("norm/ln_f32.safetensors"), broken, Precision::f32);
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_EQ(result.reason, "HSTU_ERROR_UNSUPPORTED: no family");
}

TEST(Goldens, FolderWithoutCasesIsAnError) {
  EXPECT_THROW(run_goldens(kData / "nowhere", reference_executor(), Precision::f32), Error);
  EXPECT_THROW(run_goldens(test::source_dir() / "include", reference_executor(), Precision::f32), Error);
}

}  // namespace
}  // namespace hstujit::verify
