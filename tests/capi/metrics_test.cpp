// What operators of servers see: counters, times, and their text for Prometheus.
#include "capi/fake_gpu.hpp"
#include "support/captured_log.hpp"
#include "support/patterns.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace hstujit {
namespace {

class Metrics : public FakeGpu {
 protected:
  hstu_status call(int64_t dim = 64) {
    const hstu_layer_norm_args args = norm(4, dim);
    return hstu_layer_norm(context_, &args, nullptr);
  }
  std::string metrics() {
    size_t needed = 0;
    EXPECT_EQ(hstu_context_metrics(context_, nullptr, 0, &needed), HSTU_OK) << hstu_last_error();
    std::string text(needed, 'x');
    EXPECT_EQ(hstu_context_metrics(context_, text.data(), text.size(), nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }
};

TEST_F(Metrics, CountersTellWhereTheTimeWent) {
  const test::TempDir store;
  open(store.str());
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().loads, 1);
  EXPECT_GT(counters().compile_ns, 1'000'000);
  EXPECT_GT(counters().load_ns, 0);
  EXPECT_EQ(counters().store_ns, 0);
  open(store.str());
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().compile_ns, 0);
  EXPECT_GT(counters().store_ns, 0);
}

TEST_F(Metrics, RefusedCallsAreCounted) {
  open("", HSTU_MISS_FAIL);
  EXPECT_EQ(call(), HSTU_ERROR_NOT_READY);
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(call(), HSTU_ERROR_STREAM_CAPTURING);
  EXPECT_EQ(counters().not_ready, 2);
}

TEST_F(Metrics, AMissIsOneLineThatSaysWhatServesIt) {
  const test::TempDir store;
  tune_by_hand(store.str(), norm(4, 128));
  open(store.str());
  test::CapturedLog log(LogLevel::info);  // behind open(), which asks the environment for a level
  const auto lines_with = [&](const std::string& words) {
    int count = 0;
    std::istringstream lines(log.str());
    for (std::string line; std::getline(lines, line);) count += line.find(words) != std::string::npos;
    return count;
  };
  for (int i = 0; i < 3; ++i) ASSERT_EQ(call(64), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(log.lines(), 2) << "a line of the compilation, one of the choice\n" << log.str();
  EXPECT_EQ(lines_with("miss, compiled in"), 1) << log.str();
  EXPECT_EQ(lines_with("(default)"), 1) << log.str();
  ASSERT_EQ(call(128), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(lines_with("(tuned record)"), 1) << log.str();
}

TEST_F(Metrics, DamagedEntriesAreCounted) {
  const test::TempDir store;
  open(store.str());
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  for (const auto& file : std::filesystem::recursive_directory_iterator(store.path() / "kernels"))
    if (file.is_regular_file()) std::ofstream(file.path()) << "damage";
  open(store.str());
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().damaged, 1);
  EXPECT_EQ(counters().compiles, 1);
}

TEST_F(Metrics, TextIsWhatPrometheusReads) {
  open("");
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  const std::string text = metrics();
  EXPECT_NE(text.find("hstujit_compiles_total{device=\"NVIDIA H200 sm_90a\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# TYPE hstujit_plans gauge\nhstujit_plans{"), std::string::npos) << text;
  EXPECT_NE(text.find("hstujit_compile_seconds_total{"), std::string::npos) << text;
  const std::string line = "# (HELP|TYPE) hstujit_[a-z_]+ .+|hstujit_[a-z_]+\\{device=\"[^\"]+\"\\} [0-9.]+";
  size_t samples = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos) << "the last line ends, too";
    const std::string each = text.substr(at, end - at);
    EXPECT_TRUE(test::matches(each, line)) << each;
    samples += each[0] != '#';
    at = end + 1;
  }
  EXPECT_EQ(samples, sizeof(hstu_counters) / sizeof(int64_t) - 1) << "every counter is there";
}

TEST_F(Metrics, ATooSmallBufferIsToldHowMuchItTakes) {
  open("");
  char text[16] = "untouched";
  size_t needed = 0;
  EXPECT_EQ(hstu_context_metrics(context_, text, sizeof text, &needed), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_GT(needed, sizeof text);
  EXPECT_EQ(hstu_context_metrics(context_, nullptr, 16, &needed), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_context_metrics(context_, nullptr, 0, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace hstujit
