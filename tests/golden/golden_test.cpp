// The reference against upstream's own results, and the runner's judgement of good, bad and unknown cases.
#include "verify/golden.hpp"

#include "support/element.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// ---- Defects of upstream, on which the specification decides, not the cases

std::vector<int64_t> integers(const Safetensors& file, std::string_view name) {
  const StoredTensor* stored = file.find(name);
  const auto* first = reinterpret_cast<const int64_t*>(stored->bytes.data());
  return {first, first + stored->elements()};
}

/// The bucket of the oldest row of a timestamp_positional case, not limited by any table.
double last_bucket(const Safetensors& file) {
  const auto times = integers(file, "timestamps"), offsets = integers(file, "seq_offsets");
  double oldest = 0;
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i)
      oldest = std::max(
          oldest, static_cast<double>(times[static_cast<size_t>(offsets[b + 1] - 1)] - times[static_cast<size_t>(i)]));
  const double units = std::max(oldest, 1e-6) / std::stod(file.text("time_bucket_increments"));
  return std::trunc(file.text("time_bucket_fn") == "log" ? std::log(units) : std::sqrt(units));
}

bool all_zero(const StoredTensor& t) {
  return std::ranges::all_of(t.bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// Upstream's reference in PyTorch, of which the cases are, limits buckets by the embedding's width, where the
/// specification and upstream's kernels take the table's rows. Of its other defects listed there, none is of this
/// reference: replacement by longer parts is as here. So no case contradicts the specification, unless it is new.
TEST(Goldens, NoCaseMeetsTheDefectOfUpstreamsReference) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kData / "timestamp_positional")) {
    const Safetensors file = Safetensors::read(entry.path());
    const StoredTensor& table = *file.find("timestamp_embeddings");
    const int64_t rows = table.shape[0], width = table.shape[1];
    const bool same =
        rows == width || all_zero(table) || last_bucket(file) <= static_cast<double>(std::min(rows, width) - 1);
    EXPECT_TRUE(same) << entry.path() << ": the specification decides; compare with it, and say so here";
    ++cases;
  }
  EXPECT_EQ(cases, 8);
}

TEST(Goldens, ErrorBeyondTheToleranceFailsTheCase) {
  const auto off_by = [](double factor) -> Executor {
    return [factor](const Operator& op, void* args) {
      reference_executor()(op, args);
      const auto& call = *static_cast<hstu_addmm_args*>(args);
      const int64_t count = call.out.shape[0] * call.out.shape[1];
      std::vector<double> z(static_cast<size_t>(count));
      load(call.out, 0, count, z.data());
      for (double& value : z) value *= factor;
      store(call.out, 0, count, z.data());
    };
  };
  const Safetensors file = stored("addmm/bias1d_bf16.safetensors");
  EXPECT_EQ(run_golden(file, off_by(1 + 1e-6), Precision::f32).outcome, Outcome::passed);
  EXPECT_EQ(run_golden(file, off_by(1 + 4e-6), Precision::f32).outcome, Outcome::failed);
  EXPECT_EQ(run_golden(file, off_by(1.001), Precision::as_stored).outcome, Outcome::passed);
  const CaseResult result = run_golden(file, off_by(1.02), Precision::as_stored);
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_TRUE(result.reason.starts_with("out: relative error 0.02")) << result.reason;
  EXPECT_TRUE(result.reason.ends_with(" exceeds 0.01")) << result.reason;
}

/// The reference, and then element `index` of its first output replaced.
Executor one_wrong(int64_t index, double (*wrong)(double)) {
  return [index, wrong](const Operator& op, void* args) {
    reference_executor()(op, args);
    for (const TensorSlot& slot : op.tensors) {
      const hstu_tensor& t = tensor_at(args, slot);
      if (slot.role != TensorRole::output || !present(t)) continue;
      double value = 0;
      load(t, index, 1, &value);
      value = wrong(value);
      return store(t, index, 1, &value);
    }
  };
}

/// Of thousands, in whose norm it does not show.
TEST(Goldens, OneWrongElementFailsTheCase) {
  const Safetensors product = stored("addmm/bias1d_bf16.safetensors"), norm = stored("norm/ln_bf16.safetensors"),
                    attention = stored("hstu_attention/basic_d64_bf16.safetensors"),
                    copy = stored("concat_2d_jagged/dense_right_fp16.safetensors");
  for (const Precision precision : {Precision::as_stored, Precision::f32})
    for (const Safetensors* file : {&product, &norm, &attention, &copy})
      for (const int64_t index : {7, 100}) {
        const CaseResult negated = run_golden(*file, one_wrong(index, [](double x) { return -x; }), precision),
                         zero = run_golden(*file, one_wrong(index, [](double) { return 0.0; }), precision);
        EXPECT_EQ(negated.outcome, Outcome::failed) << file->path() << ' ' << index;
        EXPECT_EQ(zero.outcome, Outcome::failed) << file->path() << ' ' << index;
      }
  EXPECT_NE(run_golden(product, one_wrong(100, [](double) { return 0.0; }), Precision::as_stored)
                .reason.find("out: element 100 is 0 instead of "),
            std::string::npos);
  const CaseResult step =
      run_golden(copy, one_wrong(100, [](double x) { return x * (1 + 0x1p-10); }), Precision::as_stored);
  EXPECT_EQ(step.outcome, Outcome::failed) << "a copy is equal";
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
