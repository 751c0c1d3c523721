#include "tuner/decide.hpp"

#include "tuner/statistics.hpp"

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
    if (trial.status == TrialStatus::ok && trial.stage == stage) out.push_back(trial);
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

const Trial& winner_of(const std::vector<Trial>& trials, const Trial& standard) {
  const auto interval = [](const Trial& t) { return interval_of(t.timing, kTieFloor); };
  const Interval best = interval(*std::min_element(trials.begin(), trials.end(), faster));
  const Interval base = interval(standard);
  if (base.overlaps(best)) return standard;
  const Trial* winner = nullptr;
  for (const Trial& t : trials)
    if (interval(t).overlaps(best) && !interval(t).overlaps(base) && (!winner || preferred(t, *winner))) winner = &t;
  return *winner;
}

/// Higher speaks louder.
auto rank(const Job& job) { return std::tuple(job.state == JobState::finished, job.updated_ms, job.uid); }

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

std::optional<Record> decide(const Job& job) {
  const std::vector<Trial> trials = deciding_trials(job);
  const Trial* standard = standard_of(trials);
  if (!standard) return std::nullopt;
  return Record{
      job.problem, job.device_class, job.uid, job.evidence, winner_of(trials, *standard), standard->timing.median_ns};
}

std::optional<Record> decide(std::span<const Job> jobs) {
  std::optional<Record> record;
  const Job* speaker = nullptr;
  for (const Job& job : jobs) {
    if (speaker && rank(job) < rank(*speaker)) continue;
    if (auto decided = decide(job)) {
      record = std::move(decided);
      speaker = &job;
    }
  }
  return record;
}

}  // namespace hstujit
