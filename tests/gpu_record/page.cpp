#include "gpu_record/page.hpp"

#include "gpu_record/page_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace hstujit::gpu_record {

std::string rounded(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  return fmt::format("{:.{}f}", value, decimals);
}

bool short_of_target(const Figure& f) {
  return f.target && (f.higher_is_better ? f.value < *f.target : f.value > *f.target);
}

namespace {

/// Of a share of something else: what has less than all of it is behind, whatever the target.
bool behind(const Figure& f) { return f.unit == "%" && f.higher_is_better && f.value < 100; }

std::string without_bars(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string line(const Figure& f, bool stale) {
  std::vector<std::string> states;
  if (f.target) states.emplace_back(short_of_target(f) ? "**short**" : "met");
  if (behind(f)) states.emplace_back("behind");
  if (stale) states.emplace_back("*stale*");
  const std::string target = f.target ? fmt::format("{:.6g} {}", *f.target, f.unit) : "";
  return fmt::format("| `{}` | {} {} | {} | {} | {} | {} |\n", f.id, rounded(f.value), f.unit, target,
                     fmt::join(states, " "), f.taken.date, without_bars(f.yardstick));
}

std::string tests_table(const Record& record, const Stale& stale) {
  std::string text =
      "\n## GPU tests\n\n| room | device | passed | failed | skipped | taken | |\n|---|---|---|---|---|---|---|\n";
  for (const TestCounts& tests : record.tests) {
    const bool is_stale = std::ranges::any_of(stale.tests, [&](const auto& again) { return again.entry.is(tests); });
    text += fmt::format("| {} | `{}` | {} | {} | {} | {} | {} |\n", tests.room, tests.device, tests.passed,
                        tests.failed, tests.skipped, tests.taken.date, is_stale ? "*stale*" : "");
  }
  return text;
}

std::string sanitized_table(const Record& record, const Stale& stale) {
  if (record.sanitized.empty()) return "";
  std::string text =
      "\n## Sanitizers\n\nWithout a finding, on the same kernels, added up: tests that ran, and of random sweeps the "
      "problems "
      "and the kernels.\n\n| tool | room | runs | tests | problems | kernels | last | "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const SanitizedCounts& s : record.sanitized) {
    const bool is_stale = std::ranges::any_of(stale.sanitized, [&](const auto& again) { return again.entry.is(s); });
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", s.tool, s.room, s.runs, s.tests, s.problems,
                        s.kernels, s.taken.date, is_stale ? "*stale*" : "");
  }
  return text;
}

std::string figures_table(const Record& record, const Section& section, const std::set<const Figure*>& stale) {
  std::string text, command;
  for (const Figure& figure : record.figures) {
    if (room_of_figure(figure) != section.room) continue;
    if (text.empty()) text = fmt::format("\n## {}\n", section.title);
    if (figure.command != command)  // figures of one command stand under it
      text += fmt::format("\n`{}`:\n\n| figure | value | target | | taken | beside |\n|---|---|---|---|---|---|\n",
                          figure.command);
    command = figure.command;
    text += line(figure, stale.contains(&figure));
  }
  return text;
}

/// How many tests passed and so on, in words.
std::string sums(const Record& record, std::string_view device) {
  int64_t passed = 0, failed = 0, skipped = 0;
  for (const TestCounts& tests : record.tests) {
    if (tests.device != device) continue;
    passed += tests.passed;
    failed += tests.failed;
    skipped += tests.skipped;
  }
  return fmt::format("{} passed, {} failed, {} skipped", passed, failed, skipped);
}

/// "2026-11-26", or "2026-11-26 to 2026-11-27".
std::string dates(const Record& record) {
  std::set<std::string> all;
  for (const Figure& figure : record.figures) all.insert(figure.taken.date);
  for (const TestCounts& tests : record.tests) all.insert(tests.taken.date);
  if (all.empty()) return "nothing taken";
  return all.size() == 1 ? *all.begin() : fmt::format("{} to {}", *all.begin(), *all.rbegin());
}

/// What figures were taken with, each once.
std::string compilers(const Record& record) {
  std::set<std::string> all;
  for (const Figure& figure : record.figures)
    if (!figure.taken.driver.empty()) all.insert(fmt::format("driver {}, {}", figure.taken.driver, figure.nvrtc));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

std::string page(const Record& record, const Stale& stale) {
  std::set<const Figure*> stale_figures;
  for (const Figure& figure : record.figures)
    if (std::ranges::any_of(stale.figures, [&](const auto& again) { return again.entry.is(figure); }))
      stale_figures.insert(&figure);
  std::string text = fmt::format(
      "# {}, {}\n\nAll {} figures of `tests/gpu_record/` for this device, made from the JSON by `gpu-record page`: "
      "{}.\nGPU "
      "tests: {}; on kernels of the sm_80 generation alone,\n`cuda@sm_80`: {}.\n\n`met` and `short` say whether the "
      "target "
      "is reached; nothing stands where there is none. `behind` says of a share of\nsomething else that it is under "
      "100 %: "
      "that is faster. {} are short, {} behind.\nTargets are an H200's. `stale` is what ran other sources than these: "
      "{} "
      "figures, tests of {} rooms.\n",
      record.device, dates(record), record.figures.size(), compilers(record), sums(record, "cuda"),
      sums(record, "cuda@sm_80"), std::ranges::count_if(record.figures, short_of_target),
      std::ranges::count_if(record.figures, behind), stale_figures.size(), stale.tests.size());
  for (const Section& section : kSections) text += figures_table(record, section, stale_figures);
  return text + tests_table(record, stale) + sanitized_table(record, stale);
}

}  // namespace hstujit::gpu_record
