#include "tuner/additive_model.hpp"

#include <algorithm>

namespace hstujit {

AdditiveModel::AdditiveModel(const Space& space) : space_(space) {
  for (size_t k = 0; k < space.knobs(); ++k) effects_.emplace_back(space.values(k).size(), 0.0);
}

AdditiveModel::Levels AdditiveModel::levels_of(const Config& config) const {
  Levels levels;
  levels.fill(-1);
  for (size_t k = 0; k < effects_.size(); ++k) {
    const auto& values = space_.values(k);
    const auto at = std::find(values.begin(), values.end(), config.value[k]);
    if (at != values.end()) levels[k] = static_cast<int>(at - values.begin());
  }
  return levels;
}

void AdditiveModel::observe(const Config& config, double log_seconds) {
  observations_.push_back({levels_of(config), log_seconds, 0});
}

double AdditiveModel::predict(const Config& config) const {
  const Levels levels = levels_of(config);
  double sum = mean_;
  for (size_t k = 0; k < effects_.size(); ++k)
    if (levels[k] >= 0) sum += effects_[k][static_cast<size_t>(levels[k])];
  return sum;
}

/// Sets the knob's effects to the shrunken means of what the other knobs leave unexplained.
void AdditiveModel::refit(size_t knob) {
  constexpr double kShrinkage = 1.0;  // as if each value had been seen once more, without effect
  std::vector<double>& effects = effects_[knob];
  std::vector<double> sum(effects.size(), 0.0), count(effects.size(), kShrinkage);
  const auto level = [&](const Observation& o) { return static_cast<size_t>(o.levels[knob]); };
  for (const Observation& o : observations_) {
    if (o.levels[knob] < 0) continue;
    sum[level(o)] += o.rest + effects[level(o)];
    count[level(o)] += 1;
  }
  for (Observation& o : observations_)
    if (o.levels[knob] >= 0) o.rest += effects[level(o)] - sum[level(o)] / count[level(o)];
  for (size_t v = 0; v < effects.size(); ++v) effects[v] = sum[v] / count[v];
}

void AdditiveModel::fit() {
  constexpr int kRounds = 8;
  if (observations_.empty()) return;
  mean_ = 0;
  for (const Observation& o : observations_) mean_ += o.log_seconds / static_cast<double>(observations_.size());
  for (auto& effects : effects_) std::fill(effects.begin(), effects.end(), 0.0);
  for (Observation& o : observations_) o.rest = o.log_seconds - mean_;
  for (int round = 0; round < kRounds; ++round)
    for (size_t knob = 0; knob < effects_.size(); ++knob) refit(knob);
}

}  // namespace hstujit
