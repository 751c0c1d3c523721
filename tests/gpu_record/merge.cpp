#include "gpu_record/merge.hpp"

#include "gpu_record/rooms.hpp"
#include "support/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit::gpu_record {
namespace {

/// A number or a text, as text; "" when absent.
std::string text_at(const Json& json, const char* member) {
  if (!json.contains(member)) return "";
  return json[member].is_string() ? json[member].get<std::string>() : write_json(json[member]);
}

Figure figure_of(const Json& measured, Sources& sources) {
  Figure figure;
  read_measured(measured, figure);
  auto needed = measured.at("families").get<std::set<std::string>>();
  if (measured.value("of_launching", false)) needed.emplace(kLaunching);
  figure.taken.digests = sources.digests(needed);
  for (const std::string& name : needed)
    if (!figure.taken.digests.contains(name))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "figure {}: there is no family {}", figure.id, name);
  return figure;
}

Outcome outcome_of(const Json& test) {
  if (test.contains("failures")) return {.failed = 1};
  return test.at("result") == "SKIPPED" ? Outcome{.skipped = 1} : Outcome{.passed = 1};
}

void for_each_test(const Json& output, const auto& use) {
  for (const Json& suite : output.at("testsuites"))
    for (const Json& test : suite.at("testsuite"))
      use(suite.at("name").get<std::string>(), test.at("name").get<std::string>(), test);
}

Taken taken_of_room(Taken taken, const std::string& room, std::string_view device, Sources& sources) {
  taken.digests = sources.digests(dependencies(sources, room, device));
  return taken;
}

}  // namespace

std::vector<std::string> add_figures(Record& record, const Json& report, const std::string& date, Sources& sources,
                                     const std::vector<PromisedFigure>& promised) {
  std::string device = text_at(report, "device");
  device = device.substr(0, device.find(" as sm_"));  // the same GPU on kernels of an older generation
  if (!device.empty() && device != record.device)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "figures of {} do not belong to a record of {}", device, record.device);
  std::vector<std::string> ids;
  for (const Json& measured : report.at("figures")) {
    Figure figure = figure_of(measured, sources);
    figure.nvrtc = text_at(report, "nvrtc");
    figure.taken.date = date;
    figure.taken.driver = text_at(report, "driver");
    const auto promise = std::ranges::find(promised, figure.id, &PromisedFigure::id);
    if (promise != promised.end()) figure.choice = promise->choice_on(record.device);
    ids.push_back(figure.id);
    put(record.figures, std::move(figure));
  }
  return ids;
}

TestList::TestList(const Json& listed) {
  for_each_test(listed, [&](const std::string& suite, const std::string& name, const Json& test) {
    const std::string room = room_of(test.at("file").get<std::string>());
    rooms_.emplace(suite + "." + name, room);
    ++by_room_[room];
    suites_[room].insert(suite);
  });
}

const std::string& TestList::room(const std::string& test) const {
  const auto found = rooms_.find(test);
  if (found == rooms_.end()) fail(HSTU_ERROR_INVALID_ARGUMENT, "test {} is not in the list of tests", test);
  return found->second;
}

// Most suites are of one room; tests of the others are named one by one.
std::string TestList::filter(const std::set<std::string>& rooms) const {
  if (rooms.empty()) return "*";
  std::map<std::string, int> owners;
  for (const auto& [room, suites] : suites_)
    for (const std::string& suite : suites) ++owners[suite];
  std::vector<std::string> patterns;
  for (const std::string& room : rooms) {
    const auto suites = suites_.find(room);
    if (suites == suites_.end()) fail(HSTU_ERROR_INVALID_ARGUMENT, "room {} has no GPU tests", room);
    for (const std::string& suite : suites->second)
      if (owners[suite] == 1) patterns.push_back(suite + ".*");
  }
  for (const auto& [test, room] : rooms_)
    if (rooms.contains(room) && owners[test.substr(0, test.find('.'))] > 1) patterns.push_back(test);
  return fmt::format("{}", fmt::join(patterns, ":"));
}

std::map<std::string, Outcome> outcomes_by_room(const TestList& list, const std::vector<Json>& outputs) {
  std::map<std::string, Outcome> outcomes;
  for (const Json& output : outputs)
    for_each_test(output, [&](const std::string& suite, const std::string& name, const Json& test) {
      if (test.at("status") != "RUN") return;
      const Outcome one = outcome_of(test);
      Outcome& all = outcomes[list.room(suite + "." + name)];
      all = {all.passed + one.passed, all.failed + one.failed, all.skipped + one.skipped};
    });
  return outcomes;
}

std::vector<std::string> add_tests(Record& record, const std::string& device, const TestList& list,
                                   const std::vector<Json>& outputs, Taken taken, Sources& sources) {
  std::vector<std::string> incomplete;
  for (const auto& [room, outcome] : outcomes_by_room(list, outputs)) {
    const int64_t all = list.tests_by_room().at(room);
    if (outcome.ran() == all)
      put(record.tests,
          {device, room, outcome.passed, outcome.failed, outcome.skipped, taken_of_room(taken, room, device, sources)});
    else
      incomplete.push_back(
          fmt::format("{} on {}: {} of {} tests ran, nothing is recorded of them", room, device, outcome.ran(), all));
  }
  return incomplete;
}

void add_sanitized(Record& record, const std::string& tool, const TestList& list, const std::vector<Json>& outputs,
                   const std::vector<Json>& counts, Taken taken, Sources& sources) {
  std::map<std::string, SanitizedCounts> by_room;
  for (const auto& [room, outcome] : outcomes_by_room(list, outputs)) {
    if (outcome.failed > 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{} tests of {} failed under {}: such a run does not count", outcome.failed,
           room, tool);
    by_room[room].tests = outcome.passed;
  }
  for (const Json& each : counts)
    for (const auto& [room, count] : each.items()) {
      by_room[room].problems += count.at("problems").get<int64_t>();
      by_room[room].kernels += count.at("kernels").get<int64_t>();
    }
  for (auto& [room, run] : by_room) {
    run.tool = tool;
    run.room = room;
    run.runs = 1;
    run.taken = taken_of_room(taken, room, kTestDevices[0], sources);
    for (const SanitizedCounts& before : record.sanitized)
      if (before.is(run) && before.taken.digests == run.taken.digests) {
        run.runs += before.runs;
        run.tests += before.tests;
        run.problems += before.problems;
        run.kernels += before.kernels;
      }
    put(record.sanitized, std::move(run));
  }
}

}  // namespace hstujit::gpu_record
