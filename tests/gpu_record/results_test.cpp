#include "gpu_record/results.hpp"

#include "support/error.hpp"
#include "support/files.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

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

// ---- The README's table: | <!-- figure --> problem | unit | ours | rival | x |

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

/// The rows of the README that name a figure.
std::vector<std::pair<std::string, std::vector<std::string>>> rows_of_the_readme() {
  std::string text;
  EXPECT_EQ(read_file((test::source_dir() / "README.md").string(), text), 0);
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  constexpr std::string_view kBegin = "| <!-- ", kEnd = " -->";
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(kBegin))
      rows.emplace_back(line.substr(kBegin.size(), line.find(kEnd) - kBegin.size()), cells_of(line));
  return rows;
}

TEST(Results, OfTheReadmeAreThoseOfTheRecord) {
  const Rivals rivals = read_rivals((test::source_dir() / kRivals).string());
  const Record record = read_record((test::source_dir() / "tests/gpu_record" / file_name(rivals.device)).string());
  const auto rows = rows_of_the_readme();
  EXPECT_GE(rows.size(), 7u);
  for (const auto& [id, cells] : rows) {
    const auto figure = std::ranges::find(record.figures, id, &Figure::id);
    const auto rival = std::ranges::find(rivals.all, id, &Rival::figure);
    ASSERT_NE(figure, record.figures.end()) << id;
    ASSERT_NE(rival, rivals.all.end()) << id;
    ASSERT_EQ(cells.size(), 5u) << id;
    const double ours = std::stod(cells[2]);
    EXPECT_NEAR(ours, figure->value, figure->value * 0.001) << id;
    EXPECT_EQ(std::stod(cells[3]), rival->value) << id;
    EXPECT_NEAR(std::stod(cells[4]), figure->higher_is_better ? ours / rival->value : rival->value / ours, 0.0051)
        << id;
  }
}

}  // namespace
}  // namespace hstujit::gpu_record
