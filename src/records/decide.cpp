#include "records/decide.hpp"

#include "records/possible.hpp"
#include "records/statistics.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace hstujit {
namespace {

/// The numbers of "block_m=128 stages=2", in order.
std::vector<int32_t> knob_values(std::string_view config) {
  std::vector<int32_t> values;
  for (size_t at = config.find('='); at != std::string_view::npos; at = config.find('=', at + 1))
    std::from_chars(config.data() + at + 1, config.data() + config.size(), values.emplace_back(0));
  return values;
}

std::vector<Trial> complete_trials(const Job& job, Stage stage) {
  std::vector<Trial> out;
  for (const Trial& trial : job.trials)
    if (trial.status == TrialStatus::ok && trial.stage == stage && impossible(trial).empty()) out.push_back(trial);
  return out;
}

const Trial* standard_of(const std::vector<Trial>& trials) {
  for (const Trial& trial : trials)
    if (trial.standard) return &trial;
  return nullptr;
}

bool faster(const Trial& a, const Trial& b) {
  if (a.timing.median_ns != b.timing.median_ns) return a.timing.median_ns < b.timing.median_ns;
  return preferred(a, b);
}

bool same_configuration(const Trial& a, const Trial& b) { return a.family == b.family && a.config == b.config; }

bool tie(const Trial& a, const Trial& b, double floor) {
  return interval_of(a.timing, floor).overlaps(interval_of(b.timing, floor));
}

/// Whether what won before still does.
bool stays(const Trial& trial, const Trial& best, const Trial& standard) {
  return tie(trial, best, kStayFloor) && (!faster(standard, trial) || tie(trial, standard, kTieFloor));
}

const Trial& winner_of(const std::vector<Trial>& trials, const Trial& standard, const Trial* before) {
  const Trial& fastest = *std::min_element(trials.begin(), trials.end(), faster);
  for (const Trial& t : trials)
    if (before && same_configuration(t, *before) && stays(t, fastest, standard)) return t;
  if (tie(standard, fastest, kStayFloor)) return standard;
  const Trial* winner = nullptr;
  for (const Trial& t : trials)
    if (tie(t, fastest, kTieFloor) && !tie(t, standard, kTieFloor) && (!winner || preferred(t, *winner))) winner = &t;
  return winner ? *winner : standard;
}

bool finished(const Job& job) { return job.state == JobState::finished; }

/// Higher speaks louder.
auto rank(const Job& job) { return std::tuple(finished(job), job.updated_ms, job.uid); }

/// The winner of a job after `before` had won.
std::optional<Record> decide_after(const Job& job, const Trial* before) {
  const std::vector<Trial> trials = deciding_trials(job);
  const Trial* standard = standard_of(trials);
  if (!standard) return std::nullopt;
  return Record{job.problem,
                job.device_class,
                job.uid,
                job.evidence,
                winner_of(trials, *standard, before),
                standard->timing.median_ns};
}

/// What several jobs decide, and which of them do.
struct Decision {
  std::optional<Record> record;
  const Job* speaker = nullptr;
  const Job* since = nullptr;  ///< the job since which the same has won without a break
};

Decision decision_of(std::span<const Job> jobs) {
  std::vector<const Job*> order;
  for (const Job& job : jobs) order.push_back(&job);
  std::sort(order.begin(), order.end(), [](const Job* a, const Job* b) { return rank(*a) < rank(*b); });
  Decision now;
  for (const Job* job : order) {
    // Other kernels or another driver make other code of the same configuration: nothing to hold on to.
    const bool follows = now.record && finished(*now.speaker) && now.record->evidence == job->evidence;
    auto record = decide_after(*job, follows ? &now.record->trial : nullptr);
    if (!record) continue;
    if (!follows || !same_configuration(record->trial, now.record->trial)) now.since = job;
    now.record = std::move(record);
    now.speaker = job;
  }
  return now;
}

}  // namespace

bool preferred(const Trial& a, const Trial& b) {
  if (a.smem_bytes != b.smem_bytes) return a.smem_bytes < b.smem_bytes;
  if (a.registers != b.registers) return a.registers < b.registers;
  const auto values_a = knob_values(a.config), values_b = knob_values(b.config);
  if (values_a != values_b) return values_a < values_b;
  return std::tie(a.family, a.config) < std::tie(b.family, b.config);
}

std::vector<Trial> deciding_trials(const Job& job) {
  std::vector<Trial> trials = complete_trials(job, Stage::finals);
  // A job that was interrupted in its finals may lack the default there.
  if (!standard_of(trials)) trials = complete_trials(job, Stage::search);
  return standard_of(trials) ? trials : std::vector<Trial>{};
}

std::optional<Record> decide(const Job& job) { return decide_after(job, nullptr); }

std::optional<Record> decide(std::span<const Job> jobs) { return decision_of(jobs).record; }

std::vector<const Job*> deciding_jobs(std::span<const Job> jobs) {
  const Decision decision = decision_of(jobs);
  if (!decision.speaker) return {};
  if (decision.since == decision.speaker) return {decision.speaker};
  return {decision.since, decision.speaker};
}

}  // namespace hstujit
