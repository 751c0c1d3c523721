// What each operator of the table has: sample problems, a figure, documentation, tests of its reference and of refused
// input. Of its sweep on the device, whose program has them all, kernels/every_operator_test.cpp asks.
#include "support/checked_operators.hpp"
#include "support/files.hpp"
#include "support/sample_problems.hpp"
#include "support/source_dir.hpp"
#include "workload/calls.hpp"
#include "workload/workload.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

namespace hstujit {
namespace {

/// The table's lines, with their names in C.
struct Line {
  Op op;
  std::string name, args, function;
};
#define HSTUJIT_LINE(op, args, function) Line{Op::op, #op, #args, #function},
const Line kLines[] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_LINE)};
#undef HSTUJIT_LINE

void PrintTo(const Line& line, std::ostream* out) { *out << line.name; }

std::string read(const std::filesystem::path& path) {
  std::string text;
  EXPECT_EQ(read_file((test::source_dir() / path).string(), text), 0) << path;
  return text;
}

/// The files below the folder whose names end so, one behind the other.
std::string texts_of(const std::filesystem::path& folder, std::string_view ending) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_dir() / folder))
    if (entry.path().string().ends_with(ending)) text += read(entry.path());
  return text;
}

class EveryOperator : public testing::TestWithParam<Line> {};

TEST_P(EveryOperator, HasSampleProblems) {
  EXPECT_FALSE(test::sample_problems(GetParam().op).empty()) << "tests/support/*_problems.cpp";
}

TEST_P(EveryOperator, HasAFigure) {
  static const std::vector<Calls> figures = expand(parse_workload(read("tools/workloads/figures.json")));
  EXPECT_TRUE(std::ranges::any_of(figures, [](const Calls& entry) {
    return entry.calls[0].figure && entry.calls[0].op == GetParam().op;
  })) << "tools/workloads/figures.json";
}

TEST_P(EveryOperator, HasALineOfTheTableInDocs) {
  static const std::string table = read("docs/operators.md");
  EXPECT_TRUE(std::regex_search(table, std::regex(fmt::format("(^|\n)\\|[^|\n]*`{}`[^|\n]*\\|", GetParam().name))))
      << "docs/operators.md";
}

/// A comment of its own in front of the args struct, and the function behind it.
TEST_P(EveryOperator, IsDocumentedInThePublicHeaders) {
  const auto& [op, name, args, function] = GetParam();
  static const std::string text = texts_of("include/hstujit", ".h");
  const size_t begin = text.find(fmt::format("typedef struct {} {{", args)), end = text.find("} " + args + ";");
  ASSERT_NE(begin, std::string::npos) << args;
  ASSERT_NE(end, std::string::npos) << args;
  EXPECT_EQ(text.find(fmt::format("HSTU_API hstu_status {}(hstu_context* context,", function), end),
            text.find("HSTU_API", end))
      << function << " is declared right behind its args";
  const size_t comment = text.rfind("/**", begin);
  ASSERT_NE(comment, std::string::npos);
  const std::string documentation = text.substr(comment, begin - comment);
  EXPECT_GT(documentation.size(), 200u) << documentation;
  EXPECT_EQ(documentation.find("HSTU_API"), std::string::npos) << name << " has no comment of its own";
}

TEST_P(EveryOperator, HasATestOfItsReference) {
  static const std::string tests = texts_of("tests/operators", "reference_test.cpp");
  EXPECT_NE(tests.find(GetParam().args), std::string::npos) << "tests/operators/";
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOperator, testing::ValuesIn(kLines), [](const auto& c) { return c.param.name; });

TEST(EveryOperatorOfTheTable, HasALineHere) { EXPECT_EQ(std::size(kLines), static_cast<size_t>(kOpCount)); }

TEST(EveryOperatorOfTheTable, IsSpoiledByATestOfBadInput) {
  EXPECT_EQ(test::operators_without(test::Check::bad_input), "") << "tests/operators: expect_refused()";
}

}  // namespace
}  // namespace hstujit
