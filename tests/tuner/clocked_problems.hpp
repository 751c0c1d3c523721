// Problems whose families' spaces were recorded completely, on a simulated machine.
#pragma once

#include "tuner/fixtures.hpp"
#include "tuner/own_spaces.hpp"
#include "tuner/simulated_machine.hpp"
#include "tuner/tune.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hstujit::test {

/// A problem with the part of its recorded spaces that the tuner visits.
struct ClockedProblem {
  std::string name;
  TuneTask task;
  std::map<const Family*, RecordedSpace> spaces;

  double best() const {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [family, recorded] : spaces) best = std::min(best, recorded.best());
    return best;
  }
};

/// With today's default, which need not be that of the day of the recording.
inline RecordedSpace with_default(const RecordedSpace& recorded, const Config& standard) {
  std::vector<std::vector<int32_t>> values;
  for (size_t k = 0; k < recorded.space.knobs(); ++k) values.push_back(recorded.space.values(k));
  RecordedSpace out(Space(values, recorded.space.points(), standard),
                    [&](const Config& c) { return recorded.seconds[*recorded.space.index(c)]; });
  for (const Config& config : out.space.points())
    out.trials.push_back(recorded.trials.empty() ? TrialSeconds{} : recorded.trials[*recorded.space.index(config)]);
  return out;
}

inline std::vector<ClockedProblem> clocked_problems() {
  const DeviceFacts device = *facts_of_target("sm_90a");
  std::vector<ClockedProblem> all;
  for (const OwnSpace& own : own_spaces()) {
    const auto same = [&](const ClockedProblem& p) { return p.task.problem == own.problem; };
    auto at = std::find_if(all.begin(), all.end(), same);
    if (at == all.end()) {
      const TuneTask task{own.problem, device, {}, {"NVIDIA H200", "", "digest", "0.1.0", 13000}};
      at = all.insert(all.end(), {own.name, task, {}});
    }
    const RecordedSpace part = visited(own);
    const Config standard = own.family->default_config(own.problem, device);
    if (!part.space.contains(standard)) {
      ADD_FAILURE() << own.name << ": its default was not recorded; record it again";
      continue;
    }
    at->spaces.emplace(own.family, with_default(part, standard));
  }
  for (ClockedProblem& problem : all)
    for (const Family* family : families_for(problem.task.problem, device))
      if (problem.spaces.contains(family)) problem.task.families.push_back(family);
  return all;
}

/// What stands for a kernel of others, of which only the recording is known. Never destroyed, for tests keep pointers.
inline const Family* foreign_family(const NamedSpace& named) {
  struct Texts {
    std::vector<std::string> names;
    std::vector<std::vector<int32_t>> values;
    std::vector<Knob> knobs;
    std::string name;
    Family family{};
  };
  static std::map<std::string, std::unique_ptr<Texts>> known;
  std::string name = named.source.substr(0, named.source.find(' '));
  for (const std::string& knob : named.knobs) name += ' ' + knob;  // of one name are kernels with other knobs
  auto& texts = known[name];
  const Space& space = named.recorded.space;
  if (texts) return &texts->family;
  texts = std::make_unique<Texts>();
  texts->name = name;
  texts->names = named.knobs;
  for (size_t k = 0; k < space.knobs(); ++k) texts->values.push_back(space.values(k));
  for (size_t k = 0; k < space.knobs(); ++k) texts->knobs.push_back({texts->names[k], texts->values[k], ""});
  texts->family.name = texts->name;
  texts->family.op = Op::layer_norm;
  texts->family.knobs = texts->knobs;
  texts->family.default_config = [](const Problem&, const DeviceFacts&) { return Config{}; };
  texts->family.resources = [](const Problem&, const Config&) { return Resources{32, 0, 0, 1}; };
  return &texts->family;
}

/// The recordings of other projects' kernels, each as a problem of a family of its own; the operator is of no meaning.
inline std::vector<ClockedProblem> foreign_problems() {
  std::vector<ClockedProblem> all;
  for (const std::string& name : recordings()) {
    if (name.starts_with("H200_")) continue;
    const NamedSpace named = read_recording(name);
    const Family* const family = foreign_family(named);
    const Problem problem = rows_problem(1 << (10 + all.size()));
    all.push_back({name, {problem, *facts_of_target("sm_90a"), {family}, {name, "", "digest", "0.1.0", 13000}}, {}});
    all.back().spaces.emplace(family, named.recorded);
  }
  return all;
}

/// All that was recorded, as what other problems say: a problem's own times are never asked for its own prior.
inline Experience experience_of(const std::vector<ClockedProblem>& problems) {
  Experience experience;
  for (const ClockedProblem& problem : problems)
    for (const auto& [family, recorded] : problem.spaces) {
      std::vector<Experience::Known> known;
      for (size_t i = 0; i < recorded.space.size(); ++i)
        if (recorded.seconds[i]) known.push_back({recorded.space.points()[i], std::log(*recorded.seconds[i])});
      experience.add(*family, problem.task.problem, std::move(known));
    }
  return experience;
}

/// A run on a simulated machine.
struct ClockedRun {
  std::vector<TuneOutcome> outcomes;
  std::vector<double> found;            ///< per problem, the best known time over the fastest that was measured
  double seconds = 0;                   ///< that it took
  double cores_busy = 0, gpu_busy = 0;  ///< shares of them
  int tried = 0;
  std::vector<std::string> order;  ///< what was measured, in order

  double rate() const { return tried / seconds; }
};

inline ClockedRun run_clocked(const std::vector<const ClockedProblem*>& problems, size_t cores, TuneOptions options,
                              const std::vector<double>& weights = {}) {
  SimulatedMachine machine(cores);
  Records records(RecordsOptions{"", ""});
  std::vector<TuneProblem> queue;
  for (size_t i = 0; i < problems.size(); ++i) {
    const ClockedProblem& problem = *problems[i];
    for (const auto& [family, recorded] : problem.spaces) machine.add(problem.task.problem, *family, recorded);
    queue.push_back({problem.task, weights.empty() ? 1.0 : weights[i],
                     [&machine, &problem] { return machine.bench(problem.task.problem); }});
  }
  options.space = [&](const TuneTask& task, const Family& family) {
    for (const ClockedProblem* problem : problems)
      if (problem->task.problem == task.problem) return problem->spaces.at(&family).space;
    throw std::runtime_error("no such problem");
  };
  ClockedRun run;
  options.progress = [&run, then = options.progress](const TuneProgress& progress) {
    if (!progress.finals) run.order.push_back(std::to_string(progress.problem) + ' ' + progress.last);
    if (then) then(progress);
  };
  run.outcomes = tune(queue, records, machine, options);
  run.seconds = machine.now();
  run.cores_busy = machine.busy() / run.seconds / static_cast<double>(cores);
  run.gpu_busy = machine.gpu_busy() / run.seconds;
  for (const ClockedProblem* problem : problems) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Job& job : records.jobs(problem->task.problem, problem->task.device.device_class()))
      for (const Trial& t : job.trials)
        if (t.timing.median_ns > 0) fastest = std::min(fastest, static_cast<double>(t.timing.median_ns) * 1e-9);
    run.found.push_back(problem->best() / fastest);
  }
  run.tried = static_cast<int>(run.order.size());
  return run;
}

inline std::vector<const ClockedProblem*> pointers_to(const std::vector<ClockedProblem>& problems) {
  std::vector<const ClockedProblem*> out;
  for (const ClockedProblem& problem : problems) out.push_back(&problem);
  return out;
}

}  // namespace hstujit::test
