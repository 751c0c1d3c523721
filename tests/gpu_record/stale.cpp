#include "gpu_record/stale.hpp"

#include "families/family.hpp"
#include "gpu_record/rooms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace hstujit::gpu_record {
namespace {

constexpr const char* kNever = "never taken";

std::set<std::string> names_of(const Digests& digests) {
  std::set<std::string> names;
  for (const auto& [name, digest] : digests) names.insert(name);
  return names;
}

/// The first of many, and how many there are beside them.
std::string shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  const size_t shown = std::min(names.size(), kShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Whether the library chose otherwise when the figure was taken; as far as is known of both times.
bool is_chosen_otherwise(const Figure& figure, const std::vector<PromisedFigure>& promised, const std::string& device) {
  const auto now = std::ranges::find(promised, figure.id, &PromisedFigure::id);
  const std::string choice = now == promised.end() ? "" : now->choice_on(device);
  return !choice.empty() && !figure.choice.empty() && choice != figure.choice;
}

void find_figures(const Record& record, Sources& sources, const std::vector<PromisedFigure>& promised, Stale& stale) {
  std::set<std::string> known;
  for (const Figure& figure : record.figures) {
    known.insert(figure.id);
    auto why = why_again(figure.taken.digests, names_of(figure.taken.digests), sources);
    if (why.empty() && is_chosen_otherwise(figure, promised, record.device)) why = "another configuration is chosen";
    if (!why.empty()) stale.figures.push_back({figure, std::move(why)});
  }
  for (const PromisedFigure& figure : promised)
    if (!known.contains(figure.id)) {
      Figure missing;
      missing.id = figure.id;
      stale.figures.push_back({missing, kNever});
    }
}

void find_tests(const Record& record, Sources& sources, Stale& stale) {
  for (const std::string_view device : kTestDevices)
    for (const std::string& room : rooms(sources)) {
      TestCounts wanted;
      wanted.device = device;
      wanted.room = room;
      const auto taken = std::ranges::find_if(record.tests, [&](const TestCounts& tests) { return tests.is(wanted); });
      if (taken == record.tests.end()) {
        stale.tests.push_back({wanted, kNever});
        continue;
      }
      auto why = why_again(taken->taken.digests, dependencies(sources, room, device), sources);
      if (why.empty() && taken->failed > 0) why = fmt::format("{} tests failed", taken->failed);
      if (!why.empty()) stale.tests.push_back({*taken, std::move(why)});
    }
}

void find_sanitized(const Record& record, Sources& sources, Stale& stale) {
  const std::set<std::string> there = rooms(sources);
  for (const SanitizedCounts& counts : record.sanitized) {
    const auto needed =
        there.contains(counts.room) ? dependencies(sources, counts.room, kTestDevices[0]) : std::set<std::string>();
    if (auto why = why_again(counts.taken.digests, needed, sources); !why.empty())
      stale.sanitized.push_back({counts, std::move(why)});
  }
}

/// A figure that was never taken has no command yet.
bool same(const Figure& a, const Figure& b) {
  return a.id == b.id && (a.command == b.command || a.command.empty() || b.command.empty());
}
bool same(const TestCounts& a, const TestCounts& b) { return a.is(b); }

/// Entries of `again` that no record holds without it being stale there.
template <class Entry>
void add_unproven(const std::vector<std::vector<Again<Entry>>>& again,
                  const std::vector<const std::vector<Entry>*>& taken, std::vector<Again<Entry>>& out) {
  const auto among = [](const auto& entries, const Entry& wanted, auto entry_of) {
    return std::ranges::any_of(entries, [&](const auto& one) { return same(entry_of(one), wanted); });
  };
  const auto entry_of_again = [](const Again<Entry>& one) -> const Entry& { return one.entry; };
  for (const auto& of_record : again)
    for (const Again<Entry>& one : of_record) {
      bool known = among(out, one.entry, entry_of_again);
      for (size_t i = 0; i < taken.size() && !known; ++i)
        known = among(*taken[i], one.entry, std::identity()) && !among(again[i], one.entry, entry_of_again);
      if (!known) out.push_back(one);
    }
}

/// What one reason touches.
struct Touched {
  std::vector<std::string> figures, tests;
};

}  // namespace

std::string room_of_figure(const Figure& figure) {
  if (figure.command.starts_with("hstu-tune run")) return "stack";
  const Digests& of = figure.taken.digests;
  if (of.contains(std::string(kLaunching)) || figure.command.find("--arch") != std::string::npos ||
      figure.id.starts_with("prewarm"))
    return "engine";
  // A chain's products are in FP8, and their yardstick is not.
  for (const char* room : {"fp8", "attention", "dense", "jagged", "norm", "position"})
    for (const auto& [name, digest] : of)
      if (const Family* family = family_named(name); family && family->room == room) return room;
  return "fp8";  // errors of quantisation, which no kernel has a part in
}

std::string why_again(const Digests& taken, const std::set<std::string>& needed, Sources& sources) {
  std::vector<std::string> changed, fresh, gone;
  for (const std::string& name : needed) {
    const auto now = sources.digest(name);
    const auto then = taken.find(name);
    if (!now)
      gone.push_back(name);
    else if (then == taken.end())
      fresh.push_back(name);
    else if (then->second != *now)
      changed.push_back(name);
  }
  for (const auto& [name, digest] : taken)
    if (!needed.contains(name)) gone.push_back(name);
  std::vector<std::string> reasons;
  if (!changed.empty()) reasons.push_back(shortened(changed) + " changed");
  if (!fresh.empty()) reasons.push_back(shortened(fresh) + " came");
  if (!gone.empty()) reasons.push_back(shortened(gone) + " went");
  return fmt::format("{}", fmt::join(reasons, "; "));
}

Stale stale_in(const Record& record, Sources& sources, const std::vector<PromisedFigure>& promised) {
  Stale stale;
  find_figures(record, sources, promised, stale);
  find_tests(record, sources, stale);
  find_sanitized(record, sources, stale);
  return stale;
}

Stale unproven(const std::vector<Record>& records, Sources& sources, const std::vector<PromisedFigure>& promised) {
  std::vector<std::vector<Again<Figure>>> figures;
  std::vector<std::vector<Again<TestCounts>>> tests;
  std::vector<const std::vector<Figure>*> taken_figures;
  std::vector<const std::vector<TestCounts>*> taken_tests;
  for (const Record& record : records) {
    Stale stale = stale_in(record, sources, promised);
    figures.push_back(std::move(stale.figures));
    tests.push_back(std::move(stale.tests));
    taken_figures.push_back(&record.figures);
    taken_tests.push_back(&record.tests);
  }
  Stale out;
  add_unproven(figures, taken_figures, out.figures);
  add_unproven(tests, taken_tests, out.tests);
  return out;
}

std::string text(const Stale& stale, const std::string& record_file) {
  std::map<std::string, Touched> by_reason;
  for (const auto& [figure, why] : stale.figures) by_reason[why].figures.push_back(figure.id);
  for (const auto& [tests, why] : stale.tests)
    by_reason[why].tests.push_back(fmt::format("{} on {}", tests.room, tests.device));
  std::string text;
  for (const auto& [why, touched] : by_reason) {
    text += fmt::format("  {}:\n", why);
    if (!touched.figures.empty())
      text += fmt::format("    {} figures: {}\n", touched.figures.size(), fmt::join(touched.figures, " "));
    if (!touched.tests.empty()) text += fmt::format("    tests: {}\n", fmt::join(touched.tests, ", "));
  }
  if (!text.empty())
    text = fmt::format(
        "{} is not of these sources:\n{}On a GPU, this takes just that again:\n"
        "  tools/record_gpu.sh --stale\n",
        record_file, text);
  for (const auto& [counts, why] : stale.sanitized)
    text += fmt::format("{}: {} of {} counts anew with the next run of tools/sanitize_gpu.sh: {}\n", record_file,
                        counts.tool, counts.room, why);
  return text;
}

}  // namespace hstujit::gpu_record
