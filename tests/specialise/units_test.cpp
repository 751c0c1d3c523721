// The unit of every family's default configuration, as files under units/: a change of what is generated shows as a
// diff. A family's first unit is there in full, of the others what differs from it. To accept a change:
// HSTUJIT_REWRITE_UNITS=1 ctest -R specialise.Units, then review the diff.
#include "families/family.hpp"
#include "specialise/source.hpp"
#include "support/files.hpp"
#include "support/sample_problems.hpp"
#include "support/source_dir.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace hstujit {
namespace {

constexpr const char* kTargets[] = {"sm_80", "sm_90a"};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What of a unit differs from another: how many lines it has, and those that the other has not.
std::string difference(const std::string& unit, const std::string& other) {
  const std::vector<std::string> lines = lines_of(unit), known = lines_of(other);
  std::string out = fmt::format("// {} lines, those above but for\n", lines.size());
  for (const std::string& line : lines)
    if (std::ranges::find(known, line) == known.end()) out += line + '\n';
  return out;
}

/// The family's units, each under its problem and the targets that it is the same for.
std::string units_of(const Family& family) {
  std::string out, first;
  for (const Problem& problem : test::sample_problems(family.op)) {
    std::map<std::string, std::string> names;  // of sources, by unit
    for (const char* target : kTargets) {
      const DeviceFacts device = *facts_of_target(target);
      if (device.compute_capability < family.min_compute_capability || !family.covers(problem, device)) continue;
      const Source source = specialise(family, problem, family.default_config(problem, device), device);
      names[source.unit] += fmt::format("// {}\n", source.name);
    }
    for (const auto& [unit, of_unit] : names) {
      out += fmt::format("// {}\n{}", text(problem), of_unit);
      out += first.empty() ? unit : difference(unit, first);
      out += '\n';
      if (first.empty()) first = unit;
    }
  }
  return out;
}

/// Where two texts part: that line of both, not some thousand lines.
std::string first_difference(const std::string& text, const std::string& expected) {
  const std::vector<std::string> now = lines_of(text), then = lines_of(expected);
  const size_t line = std::ranges::mismatch(now, then).in1 - now.begin();
  const auto at = [&](const std::vector<std::string>& lines) { return line < lines.size() ? lines[line] : "its end"; };
  return fmt::format("line {} is now\n  {}\nand was\n  {}", line + 1, at(now), at(then));
}

// Compares, or rewrites the file when asked to.
void check(const std::string& path, const std::string& units) {
  std::string expected;
  if (std::getenv("HSTUJIT_REWRITE_UNITS")) { EXPECT_EQ(publish_file(path, units), 0) << path; }
  EXPECT_EQ(read_file(path, expected), 0) << path;
  EXPECT_TRUE(units == expected) << path << ": " << first_difference(units, expected)
                                 << "\nIf this is meant, run again with HSTUJIT_REWRITE_UNITS=1 and review the diff";
}

TEST(Units, AreThoseInTheFiles) {
  const std::string folder = (test::source_dir() / "tests/specialise/units").string();
  for (const Family* family : all_families()) check(fmt::format("{}/{}.cu", folder, family->name), units_of(*family));
}

}  // namespace
}  // namespace hstujit
