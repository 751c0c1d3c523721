#include "tuner/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hstujit {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kAttempts = 64;  // draws of a random point before giving up

}  // namespace

LocalSearch::LocalSearch(const Space& space, const std::vector<Config>& hints, uint64_t seed,
                         LocalSearchOptions options)
    : space_(space),
      options_(options),
      random_(seed),
      model_(space),
      proposed_(space.size(), false),
      seconds_(space.size(), kInfinite) {
  enqueue(space.standard());
  for (const Config& hint : hints)
    if (space.contains(hint)) enqueue(hint);
  enqueue_sample();
}

void LocalSearch::enqueue(const Config& config) {
  if (!proposed_[*space_.index(config)] && std::find(queue_.begin(), queue_.end(), config) == queue_.end())
    queue_.push_back(config);
}

/// A Latin hypercube: each value of each knob is aimed at about equally often; the legal point with the fewest steps to
/// the aim is taken.
void LocalSearch::enqueue_sample() {
  const size_t count = static_cast<size_t>(options_.sample);
  std::vector<Config> aims(count);
  for (size_t k = 0; k < space_.knobs(); ++k) {
    const auto& values = space_.values(k);
    std::vector<size_t> strata(count);
    for (size_t i = 0; i < count; ++i) strata[i] = i * values.size() / count;
    random_.shuffle(strata);
    for (size_t i = 0; i < count; ++i) aims[i].value[k] = values[strata[i]];
  }
  for (const Config& aim : aims)
    enqueue(*std::min_element(space_.points().begin(), space_.points().end(), [&](const Config& a, const Config& b) {
      return space_.steps(a, aim) < space_.steps(b, aim);
    }));
}

std::optional<Config> LocalSearch::next() {
  while (queue_.empty()) {
    if (outstanding_ > 0 || !continue_walk()) return std::nullopt;
  }
  const Config config = queue_.front();
  queue_.pop_front();
  proposed_[*space_.index(config)] = true;
  ++outstanding_;
  return config;
}

void LocalSearch::report(const Config& config, std::optional<double> seconds) {
  --outstanding_;
  if (!seconds) return;
  seconds_[*space_.index(config)] = *seconds;
  model_.observe(config, std::log(*seconds));
  if (!best_ || *seconds < known(*best_)) best_ = config;
  if (!here_ || *seconds >= known(*here_)) return;  // not walking yet, or no step forward
  here_ = config;                                   // first improvement: the rest of the old neighbourhood can wait
  looked_around_ = false;
  queue_.clear();
}

/// Fills the queue with what comes next; false when the space is exhausted.
bool LocalSearch::continue_walk() {
  if (!here_) here_ = best_;  // the starts are all known: the walk begins
  if (here_ && known(*here_) < kInfinite && !looked_around_) {
    std::vector<Config> around = space_.neighbours(*here_);
    order(around);
    for (const Config& config : around) enqueue(config);
    looked_around_ = true;
    if (!queue_.empty()) return true;
  }
  if (here_ && here_ == best_) {  // nothing better a step away: then further along the knobs, before leaving for good
    std::vector<Config> lines;
    for (size_t k = 0; k < space_.knobs(); ++k)
      for (const Config& config : space_.along(*here_, k)) lines.push_back(config);
    order(lines);
    for (const Config& config : lines) enqueue(config);
    if (!queue_.empty()) return true;
  }
  const double roll = static_cast<double>(random_.below(1000)) / 1000;
  std::optional<Config> start = best_ && roll >= options_.restart_share ? kicked() : std::nullopt;
  if (!start) start = fresh();
  if (!start) return false;
  here_ = start;
  looked_around_ = false;
  enqueue(*start);
  return true;
}

/// The best point with two knobs at other values: the more promising of two that were drawn. Of more, the model would
/// pick the same ones again and again.
std::optional<Config> LocalSearch::kicked() {
  constexpr size_t kDrawn = 2;
  std::vector<Config> drawn;
  for (int attempt = 0; attempt < kAttempts && drawn.size() < kDrawn; ++attempt) {
    Config config = *best_;
    for (int i = 0; i < 2; ++i) {
      const size_t knob = random_.below(space_.knobs());
      config.value[knob] = space_.values(knob)[random_.below(space_.values(knob).size())];
    }
    const auto index = space_.index(config);
    if (index && !proposed_[*index]) drawn.push_back(config);
  }
  if (drawn.empty()) return std::nullopt;
  order(drawn);
  return drawn.front();
}

/// A point not tried yet, drawn blindly: the model would lead back to where the walk comes from.
std::optional<Config> LocalSearch::fresh() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const size_t index = random_.below(space_.size());
    if (!proposed_[index]) return space_.points()[index];
  }
  std::vector<size_t> left;
  for (size_t index = 0; index < space_.size(); ++index)
    if (!proposed_[index]) left.push_back(index);
  if (left.empty()) return std::nullopt;
  return space_.points()[left[random_.below(left.size())]];
}

void LocalSearch::order(std::vector<Config>& configs) {
  random_.shuffle(configs);
  if (!options_.model || model_.empty()) return;
  model_.fit();
  std::stable_sort(configs.begin(), configs.end(),
                   [&](const Config& a, const Config& b) { return model_.predict(a) < model_.predict(b); });
}

}  // namespace hstujit
