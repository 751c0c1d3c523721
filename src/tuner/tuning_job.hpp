// The job of a tuning run in the records: a new one, or an interrupted one of the same circumstances that goes on.
#pragma once

#include "records/decide.hpp"
#include "records/records.hpp"
#include "tuner/tune.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hstujit {

int64_t now_ms();  ///< Unix time

class TuningJob {
 public:
  /// Resumes the newest unfinished job with the same evidence and knob tables; begins a new one if there is none, or if
  /// options.again is set. compiler: of the default configuration's kernel.
  TuningJob(Records& records, const TuneTask& task, const TuneOptions& options, const std::string& compiler);

  /// The record of a finished job of the same circumstances, unless options.again is set.
  const std::optional<Record>& finished() const { return finished_; }

  /// What the search has found out about a configuration, in this run or before; null when nothing.
  const Trial* known(const Family& family, const Config& config) const;
  /// Keeps a trial, in memory and in the records.
  void add(const Trial& trial);
  /// Ends the job and gives the record; nothing if the default was not measured.
  std::optional<Record> close(JobState state);

  const Job& job() const { return job_; }
  /// What the jobs before this one decided; nothing if there were none.
  std::optional<Record> decided_before() const { return decide(before_); }
  /// Configurations that the search knows.
  int searched() const { return static_cast<int>(search_trials_.size()); }
  /// Trials that were there when the job was resumed.
  int reused() const { return reused_; }

 private:
  bool same_circumstances(const Job& other) const;
  void index(const Trial& trial, size_t at);

  Records& records_;
  std::map<std::string, std::string> spaces_;  ///< family -> its knob table
  Job job_;
  std::vector<Job> before_;                                              ///< the problem's other jobs
  std::map<std::pair<std::string, std::string>, size_t> search_trials_;  ///< family and config -> index in job_.trials
  std::optional<Record> finished_;
  int reused_ = 0;
};

}  // namespace hstujit
