#include "gpu_record/results.hpp"

#include "support/error.hpp"

#include <gtest/gtest.h>

namespace hstujit::gpu_record {
namespace {

Figure figure(const std::string& id, double value, bool higher_is_better, std::optional<double> target = {}) {
  Figure made;
  made.id = id;
  made.unit = higher_is_better ? "GB/s" : "ms";
  made.value = value;
  made.higher_is_better = higher_is_better;
  made.target = target;
  return made;
}

const Rivals kNobody{"NVIDIA H200", "how", {}};

void expect_line(const std::string& page, const std::string& line) {
  EXPECT_NE(page.find("\n" + line + "\n"), std::string::npos) << line << "\nis no line of\n" << page;
}

TEST(Results, SetFiguresOfAllCardsSideBySide) {
  const Record a{"NVIDIA H200", {figure("dlrm_v3_pass", 4.5, false, 4.0)}, {}, {}};
  const Record b{"Other", {figure("dlrm_v3_pass", 3.5, false, 4.0), figure("dlrm_v3_more", 8, true)}, {}, {}};
  const std::string page = results_page({a, b}, kNobody);
  expect_line(page, "| figure | unit | H200 | Other | target | | rival | whose | × |");
  expect_line(page, "| `dlrm_v3_pass` | ms | 4.500 | 3.500 | 4 | **short** |  | |  |");
  expect_line(page, "| `dlrm_v3_more` | GB/s |  | 8.000 |  |  |  | |  |");
}

TEST(Results, SayHowManyTimesAsFastARivalIs) {
  const Record record{"NVIDIA H200", {figure("dlrm_v3_pass", 4, false), figure("dlrm_v3_rate", 4, true)}, {}, {}};
  const Rivals rivals{"NVIDIA H200", "how", {{"dlrm_v3_pass", "A", 8}, {"dlrm_v3_rate", "B", 8}}};
  const std::string page = results_page({record}, rivals);
  expect_line(page, "| `dlrm_v3_pass` | ms | 4.000 |  |  | 8 | A | 2.00 |");
  expect_line(page, "| `dlrm_v3_rate` | GB/s | 4.000 |  |  | 8 | B | 0.50 |");
}

TEST(Results, RefuseARivalOfAFigureThatNobodyTook) {
  const Record record{"NVIDIA H200", {figure("dlrm_v3_pass", 4, false)}, {}, {}};
  EXPECT_THROW(results_page({record}, {"NVIDIA H200", "how", {{"dlrm_v3_past", "A", 8}}}), Error);
  EXPECT_THROW(results_page({record}, {"Other", "how", {{"dlrm_v3_pass", "A", 8}}}), Error);
}

}  // namespace
}  // namespace hstujit::gpu_record
