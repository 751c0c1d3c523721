#include "tuner/simulator.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace hstujit {

RecordedSpace::RecordedSpace(Space points, const std::function<std::optional<double>(const Config&)>& time)
    : space(std::move(points)) {
  for (const Config& config : space.points()) seconds.push_back(time(config));
}

double RecordedSpace::best() const {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& s : seconds) best = std::min(best, s.value_or(best));
  return best;
}

std::optional<RecordedSpace> recorded_space(const Job& job, const Family& family, const Config& standard) {
  std::vector<std::set<int32_t>> seen(family.knobs.size());
  std::vector<Config> points;
  std::vector<std::optional<double>> times;
  for (const Trial& t : job.trials) {
    const auto config =
        t.family == family.name && t.stage == Stage::search ? parse_config(family, t.config, {}) : std::nullopt;
    if (!config) continue;
    for (size_t k = 0; k < seen.size(); ++k) seen[k].insert(config->value[k]);
    points.push_back(*config);
    const bool ran = t.status == TrialStatus::ok || t.status == TrialStatus::slow;
    times.push_back(ran ? std::optional(static_cast<double>(t.timing.median_ns) * 1e-9) : std::nullopt);
  }
  if (std::ranges::find(points, standard) == points.end()) return std::nullopt;
  std::vector<std::vector<int32_t>> values;
  values.reserve(seen.size());
  for (const auto& of_knob : seen) values.emplace_back(of_knob.begin(), of_knob.end());
  return RecordedSpace(Space(std::move(values), points, standard), [&](const Config& config) {
    return times[static_cast<size_t>(std::find(points.begin(), points.end(), config) - points.begin())];
  });
}

void add_trial_seconds(RecordedSpace& recorded, const Family& family, const std::vector<TrialCost>& costs) {
  recorded.trials.resize(recorded.space.size());
  const auto known = [](double seconds) { return seconds > 0 ? std::optional(seconds) : std::nullopt; };
  for (const TrialCost& cost : costs) {
    const auto config = cost.family == family.name ? parse_config(family, cost.config, {}) : std::nullopt;
    if (const auto at = config ? recorded.space.index(*config) : std::nullopt)
      recorded.trials[*at] = {known(cost.compiling), known(cost.measuring)};
  }
}

std::vector<double> simulate(Search& search, const RecordedSpace& recorded, size_t evaluations) {
  const double optimum = recorded.best();
  double best = std::numeric_limits<double>::infinity();
  std::vector<double> trace;
  while (trace.size() < evaluations) {
    const auto config = search.next();
    if (!config) break;
    const auto seconds = recorded.seconds[*recorded.space.index(*config)];
    search.report(*config, seconds);
    best = std::min(best, seconds.value_or(best));
    trace.push_back(optimum / best);
  }
  return trace;
}

std::vector<double> simulate_seeds(std::string_view strategy, const RecordedSpace& recorded, size_t evaluations,
                                   int seeds) {
  std::vector<double> reached;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto search = make_search(strategy, recorded.space, {}, static_cast<uint64_t>(seed));
    const auto trace = simulate(*search, recorded, evaluations);
    reached.push_back(trace.empty() ? 0 : trace.back());
  }
  std::sort(reached.begin(), reached.end());
  return reached;
}

}  // namespace hstujit
