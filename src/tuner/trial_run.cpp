#include "tuner/trial_run.hpp"

#include "records/possible.hpp"
#include "records/statistics.hpp"
#include "support/error.hpp"
#include "tuner/space.hpp"
#include "tuner/tuning_job.hpp"

namespace hstujit {
namespace {

constexpr int kFirst = 3;           // repetitions before anything is concluded
constexpr int kMore = 4;            // between looks at the spread
constexpr int kMost = 15;           // the finals have more
constexpr double kSettled = 0.005;  // uncertainty that ends the measurement
constexpr double kAbandon = 1.3;    // a 20th percentile this far behind the best ends it, too

bool hopeless(const Timing& timing, int64_t best_ns) {
  return best_ns > 0 && static_cast<double>(timing.p20_ns) > kAbandon * static_cast<double>(best_ns);
}

}  // namespace

Trial blank_trial(const Candidate& candidate, const Problem& problem) {
  Trial trial;
  trial.family = candidate.family->name;
  trial.config = text(*candidate.family, candidate.config);
  trial.space = space_text(*candidate.family);
  trial.standard = candidate.standard;
  trial.smem_bytes = candidate.family->resources(problem, candidate.config).smem_bytes;
  trial.at_ms = now_ms();
  if (!candidate.kernel) return trial;
  trial.registers = candidate.kernel->registers;
  trial.smem_bytes += candidate.kernel->static_smem_bytes;
  trial.spill_bytes = candidate.kernel->spill_bytes;
  return trial;
}

Sample measure(Bench& bench, const Candidate& candidate, int repetitions) {
  Sample sample = bench.measure(candidate, repetitions);
  if (const Impossible flaw = impossible(sample.seconds); !flaw.empty())
    fail(HSTU_ERROR_TUNING, "{}: the device's timer is wrong: {}", candidate.kernel ? candidate.kernel->name : "",
         flaw);
  return sample;
}

void measure_trial(Bench& bench, const Candidate& candidate, int64_t best_ns, Trial& trial) {
  std::vector<double> seconds;
  for (int repetitions = kFirst; static_cast<int>(seconds.size()) < kMost; repetitions = kMore) {
    const Sample sample = measure(bench, candidate, repetitions);
    seconds.insert(seconds.end(), sample.seconds.begin(), sample.seconds.end());
    trial.timing = timing_of(seconds);
    trial.sm_mhz = sample.sm_mhz;
    trial.status = hopeless(trial.timing, best_ns) ? TrialStatus::slow : TrialStatus::ok;
    if (trial.status == TrialStatus::slow) return;
    if (static_cast<int>(seconds.size()) > kFirst && uncertainty_of(trial.timing) < kSettled) return;
  }
}

std::string run_trial(Bench& bench, const Candidate& candidate, int64_t best_ns, Trial& trial) {
  try {
    const Verdict verdict = bench.verify(candidate);
    trial.status = verdict.right ? TrialStatus::ok : TrialStatus::wrong;
    if (!verdict.right) return verdict.why;
    measure_trial(bench, candidate, best_ns, trial);
    return {};
  } catch (const Error& e) {
    trial.status = TrialStatus::failed;
    trial.timing = {};
    return e.message();
  }
}

}  // namespace hstujit
