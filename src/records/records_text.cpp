#include "records/records_text.hpp"

#include "records/possible.hpp"
#include "records/tables.hpp"
#include "support/error.hpp"
#include "support/json.hpp"
#include "support/json_integer.hpp"
#include "support/log.hpp"
#include "support/shown.hpp"

#include <array>
#include <limits>
#include <map>

namespace hstujit {
namespace {

constexpr std::string_view kFormat = "hstujit records";
constexpr int kVersion = 1;

constexpr std::array<std::string_view, 2> kStages = {"search", "finals"};
constexpr std::array<std::string_view, 3> kStates = {"running", "cancelled", "finished"};
constexpr std::array<std::string_view, 6> kStatuses = {
#define HSTU_NAME(name, value) #name,
    HSTU_TRIAL_STATUSES(HSTU_NAME)
#undef HSTU_NAME
};

template <class Enum, size_t n>
std::string_view word_of(const std::array<std::string_view, n>& words, Enum value) {
  const size_t index = static_cast<size_t>(value);
  return index < n ? words[index] : "unknown";
}

template <class Enum, size_t n>
Enum enum_of(const std::array<std::string_view, n>& words, const Json& value) {
  const std::string& word = value.get_ref<const std::string&>();
  for (size_t i = 0; i < n; ++i)
    if (words[i] == word) return static_cast<Enum>(i);
  fail(HSTU_ERROR_STORE, "\"{}\" is not a word of this library's record format; was it exported by a later one?",
       shown(word));
}

template <class T>
T integer_at(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (const auto integer = integer_as<T>(value)) return *integer;
  fail(HSTU_ERROR_STORE, "{}: {} is not a whole number from {} to {}", key, shown_json(value),
       std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

void refuse(const Impossible& flaw) {
  if (!flaw.empty()) fail(HSTU_ERROR_STORE, "{}", flaw);
}

[[noreturn]] void refuse(const Json::exception& reason) {
  fail(HSTU_ERROR_STORE, "not an export of tuning records: {}", shown_reason(reason));
}

/// Knob tables are long and shared by a job's trials: listed once, referred to by index.
using Spaces = std::map<std::pair<std::string, std::string>, size_t>;

Spaces spaces_of(const Job& job) {
  Spaces spaces;
  for (const Trial& t : job.trials) spaces[{t.family, t.space}] = 0;
  size_t index = 0;
  for (auto& entry : spaces) entry.second = index++;
  return spaces;
}

Json json_of(const Trial& t, size_t space) {
  return {{"space", space},
          {"config", t.config},
          {"standard", t.standard},
          {"status", word_of(kStatuses, t.status)},
          {"stage", word_of(kStages, t.stage)},
          {"samples", t.timing.samples},
          {"median_ns", t.timing.median_ns},
          {"mad_ns", t.timing.mad_ns},
          {"p20_ns", t.timing.p20_ns},
          {"p80_ns", t.timing.p80_ns},
          {"sm_mhz", t.sm_mhz},
          {"registers", t.registers},
          {"smem_bytes", t.smem_bytes},
          {"spill_bytes", t.spill_bytes},
          {"at_ms", t.at_ms}};
}

Json json_of(const Evidence& e) {
  return {{"device", e.device},
          {"driver", e.driver},
          {"compiler", e.compiler},
          {"kernels", e.kernels},
          {"library", e.library}};
}

Json json_of(const Job& job) {
  const Spaces spaces = spaces_of(job);
  Json space_list = Json::array(), trials = Json::array();
  for (const auto& entry : spaces) space_list.push_back({entry.first.first, entry.first.second});
  for (const Trial& t : job.trials) trials.push_back(json_of(t, spaces.at({t.family, t.space})));
  return {{"uid", job.uid},
          {"evidence", json_of(job.evidence)},
          {"seed", job.seed},
          {"budget_ms", job.budget_ms},
          {"state", word_of(kStates, job.state)},
          {"started_ms", job.started_ms},
          {"updated_ms", job.updated_ms},
          {"spaces", space_list},
          {"trials", trials}};
}

Trial trial_of(const Json& j, const Json& spaces) {
  const Json& space = spaces.at(integer_at<size_t>(j, "space"));
  Trial t;
  t.family = space.at(0).get<std::string>();
  t.space = space.at(1).get<std::string>();
  t.config = j.at("config").get<std::string>();
  t.standard = j.at("standard").get<bool>();
  t.status = enum_of<TrialStatus>(kStatuses, j.at("status"));
  t.stage = enum_of<Stage>(kStages, j.at("stage"));
  t.timing = {integer_at<int32_t>(j, "samples"), integer_at<int64_t>(j, "median_ns"), integer_at<int64_t>(j, "mad_ns"),
              integer_at<int64_t>(j, "p20_ns"), integer_at<int64_t>(j, "p80_ns")};
  t.sm_mhz = integer_at<int32_t>(j, "sm_mhz");
  t.registers = integer_at<int32_t>(j, "registers");
  t.smem_bytes = integer_at<int32_t>(j, "smem_bytes");
  t.spill_bytes = integer_at<int32_t>(j, "spill_bytes");
  t.at_ms = integer_at<int64_t>(j, "at_ms");
  refuse(impossible(t));
  return t;
}

Evidence evidence_of(const Json& j) {
  return {j.at("device").get<std::string>(), j.at("compiler").get<std::string>(), j.at("kernels").get<std::string>(),
          j.at("library").get<std::string>(), integer_at<int64_t>(j, "driver")};
}

Job job_of(const Json& j, const Problem& problem, const std::string& device_class) {
  Job job;
  job.problem = problem;
  job.device_class = device_class;
  job.uid = j.at("uid").get<std::string>();
  job.evidence = evidence_of(j.at("evidence"));
  job.seed = integer_at<uint64_t>(j, "seed");
  job.budget_ms = integer_at<int64_t>(j, "budget_ms");
  job.state = enum_of<JobState>(kStates, j.at("state"));
  job.started_ms = integer_at<int64_t>(j, "started_ms");
  job.updated_ms = integer_at<int64_t>(j, "updated_ms");
  refuse(impossible(job));
  for (const Json& trial : j.at("trials")) job.trials.push_back(trial_of(trial, j.at("spaces")));
  return job;
}

void read_line(const Json& line, std::vector<Job>& jobs) {
  const std::string words = line.at("problem").get<std::string>();
  const auto problem = parse_problem(words);
  if (!problem) {
    log().warn("tuner: left out the records of \"{}\": this library has no such problem", shown(words));
    return;
  }
  for (const Json& job : line.at("jobs"))
    jobs.push_back(job_of(job, *problem, line.at("device_class").get<std::string>()));
}

/// What stands before the lines.
std::string head_text() {
  std::string out = write_json({{"format", kFormat}, {"version", kVersion}});
  out.back() = ',';
  return out + "\"records\":[";
}

}  // namespace

std::string to_text(std::vector<Job> jobs) {
  sort_canonically(jobs);
  std::string out = head_text();
  for (size_t i = 0; i < jobs.size();) {
    Json line = {{"device_class", jobs[i].device_class}, {"problem", text(jobs[i].problem)}};
    const size_t first = i;
    for (;
         i < jobs.size() && jobs[i].problem == jobs[first].problem && jobs[i].device_class == jobs[first].device_class;
         ++i)
      line["jobs"].push_back(json_of(jobs[i]));
    out += (first == 0 ? "\n" : ",\n") + line.dump();
  }
  return out + "\n]}\n";
}

std::vector<Job> jobs_of_text(std::string_view exported) {
  try {
    const Json document = read_json(exported);
    if (document.at("format") != kFormat || document.at("version") != kVersion)
      fail(HSTU_ERROR_STORE, "format {} version {}: this library reads \"{}\" version {}",
           shown_json(document.at("format")), shown_json(document.at("version")), kFormat, kVersion);
    std::vector<Job> jobs;
    for (const Json& line : document.at("records")) read_line(line, jobs);
    return jobs;
  } catch (const Json::exception& e) { refuse(e); }
}

std::vector<Job> jobs_of_line(std::string_view line) {
  try {
    std::vector<Job> jobs;
    read_line(read_json(line), jobs);
    return jobs;
  } catch (const Json::exception& e) { refuse(e); }
}

}  // namespace hstujit
