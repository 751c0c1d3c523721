#include "tuner/experience.hpp"

#include "tuner/additive_model.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hstujit {
namespace {

constexpr size_t kLeast = 5;      // configurations of a problem that are worth a look
constexpr size_t kMostNear = 8;   // problems whose jobs are read
constexpr double kOtherCode = 2;  // steps of a bucket that a difference in an exact field counts for
constexpr double kFull = 0.5;     // unlikeness at which a problem counts half

double log2_of(int32_t bucket) { return bucket > 0 ? std::log2(bucket) : -1; }

double median_of(const std::vector<Experience::Known>& known) {
  std::vector<double> times;
  for (const Experience::Known& one : known) times.push_back(one.log_seconds);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

double unlikeness(const Problem& a, const Problem& b) {
  double sum = 0;
  int index = 0;
  for (const FieldInfo& info : fields_of(a.op)) {
    if (info.kind == FieldKind::bucket)
      sum += std::abs(log2_of(a[index]) - log2_of(b[index]));
    else if (a[index] != b[index])
      sum += kOtherCode;
    ++index;
  }
  return sum;
}

void Experience::add(const Family& family, const Problem& problem, std::vector<Known> known) {
  if (known.size() < kLeast) return;
  const double median = median_of(known);
  for (Known& one : known) one.log_seconds -= median;
  of_family_[std::string(family.name)].push_back({problem, std::move(known)});
}

void Experience::add_near(const Records& records, const Problem& problem, std::string_view device_class,
                          const std::vector<const Family*>& families) {
  for (const Neighbour& near : records.neighbours(problem, device_class, kMostNear)) {
    if (near.record.problem == problem) continue;
    const std::vector<Job> jobs = records.jobs(near.record.problem, device_class);
    for (const Family* family : families) {
      std::map<Config, double> times;  // the latest job's
      for (const Job& job : jobs)
        for (const Trial& t : job.trials)
          if (t.family == family->name && t.stage == Stage::search && t.timing.median_ns > 0)
            if (const auto config = parse_config(*family, t.config, {}))
              times[*config] = std::log(static_cast<double>(t.timing.median_ns));
      std::vector<Known> known;
      for (const auto& [config, log_seconds] : times) known.push_back({config, log_seconds});
      add(*family, near.record.problem, std::move(known));
    }
  }
}

std::vector<double> Experience::prior(const Family& family, const Problem& problem, const Space& space) const {
  const auto found = of_family_.find(family.name);
  if (found == of_family_.end()) return {};
  std::vector<double> prior(space.size(), 0.0);
  double weights = 0;
  for (const Measured& other : found->second) {
    if (other.problem == problem) continue;
    const double weight = 1 / (1 + std::pow(unlikeness(problem, other.problem) / kFull, 2));
    AdditiveModel model(space);
    std::unordered_map<size_t, double> exact;
    for (const Known& one : other.known) {
      model.observe(one.config, one.log_seconds);
      if (const auto at = space.index(one.config)) exact[*at] = one.log_seconds;
    }
    model.fit();
    for (size_t i = 0; i < prior.size(); ++i) {
      const auto known = exact.find(i);
      prior[i] += weight * (known != exact.end() ? known->second : model.predict(space.points()[i]));
    }
    weights += weight;
  }
  if (weights == 0) return {};
  for (double& value : prior) value /= weights;
  return prior;
}

}  // namespace hstujit
