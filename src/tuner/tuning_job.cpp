#include "tuner/tuning_job.hpp"

#include "tuner/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace hstujit {
namespace {

std::string random_uid() {
  std::random_device device;
  std::string uid;
  for (int i = 0; i < 4; ++i) uid += fmt::format("{:08x}", device());
  return uid;
}

}  // namespace

int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

TuningJob::TuningJob(Records& records, const TuneTask& task, const TuneOptions& options, const std::string& compiler)
    : records_(records) {
  for (const Family* family : task.families) spaces_[std::string(family->name)] = space_text(*family);
  job_.uid = random_uid();
  job_.problem = task.problem;
  job_.device_class = task.device.device_class();
  job_.evidence = task.evidence;
  job_.evidence.compiler = compiler;
  job_.seed = options.seed;
  job_.budget_ms = options.budget_ms;
  job_.started_ms = job_.updated_ms = now_ms();
  before_ = records_.jobs(job_.problem, job_.device_class);
  // The latest job speaks for its problem, also when the clock was set back since the one before it.
  for (const Job& other : before_) job_.started_ms = std::max(job_.started_ms, other.updated_ms + 1);
  job_.updated_ms = job_.started_ms;
  if (options.again) return;
  std::optional<size_t> unfinished;
  for (size_t i = 0; i < before_.size(); ++i) {  // they come oldest first
    if (!same_circumstances(before_[i])) continue;
    if (before_[i].state == JobState::finished)
      finished_ = decide(std::span(before_).first(i + 1));
    else
      unfinished = i;
  }
  if (finished_ || !unfinished) return;
  job_ = std::move(before_[*unfinished]);
  before_.erase(before_.begin() + static_cast<std::ptrdiff_t>(*unfinished));
  for (size_t i = 0; i < job_.trials.size(); ++i) index(job_.trials[i], i);
  reused_ = static_cast<int>(search_trials_.size());
}

bool TuningJob::same_circumstances(const Job& other) const {
  return other.evidence == job_.evidence && std::all_of(other.trials.begin(), other.trials.end(), [&](const Trial& t) {
           const auto space = spaces_.find(t.family);
           return space != spaces_.end() && space->second == t.space;
         });
}

void TuningJob::index(const Trial& trial, size_t at) {
  if (trial.stage == Stage::search) search_trials_[{trial.family, trial.config}] = at;
}

const Trial* TuningJob::known(const Family& family, const Config& config) const {
  const auto found = search_trials_.find({std::string(family.name), text(family, config)});
  return found == search_trials_.end() ? nullptr : &job_.trials[found->second];
}

void TuningJob::add(const Trial& trial) {
  job_.trials.push_back(trial);
  index(trial, job_.trials.size() - 1);
  job_.updated_ms = std::max(job_.updated_ms, trial.at_ms);
  records_.save(job_, trial);
}

std::optional<Record> TuningJob::close(JobState state) {
  job_.state = state;
  job_.updated_ms = std::max(job_.updated_ms, now_ms());
  records_.close(job_);
  auto record = decide(job_);
  if (!record || state != JobState::finished) return record;
  std::vector<Job> jobs = before_;
  jobs.push_back(job_);
  return decide(jobs);
}

}  // namespace hstujit
