#include "tuner/model_search.hpp"

#include "support/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hstujit {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kBlindStarts = 3;          // at random, where nothing else says where to begin
constexpr size_t kDoubtful = 4;          // one proposal in so many doubts the model, ...
constexpr double kDoubt = 3;             // ... which is surer than it is right where it has been for long, by so much
constexpr double kMostCertain = 0.95;    // that a point fails: the model of failures is no more than a guess
constexpr double kLeastPromise = 1e-30;  // of what is left, however hopeless: 0 says that nothing is

}  // namespace

ModelSearch::ModelSearch(const Space& space, const Beforehand& known, uint64_t seed)
    : space_(space),
      surrogate_(space, known.prior),
      failures_(space),
      costs_(space),
      proposed_(space.size(), false),
      first_{0},
      best_(kInfinite) {
  const auto begin_with = [this](size_t point) {
    if (std::ranges::find(first_, point) == first_.end()) first_.push_back(point);
  };
  for (const Config& hint : known.hints)
    if (const auto at = space.index(hint)) begin_with(*at);
  hints_ = first_;
  Random random(seed);
  for (int i = 0; i < kBlindStarts && known.prior.empty(); ++i) begin_with(random.below(space.size()));
  std::ranges::reverse(first_);
}

std::optional<Config> ModelSearch::next() {
  const std::optional<Proposal> next = proposal();
  if (!next) return std::nullopt;
  if (!first_.empty()) first_.pop_back();
  proposed_[next->point] = true;
  ++proposals_;
  surrogate_.await(next->point);
  chosen_.reset();
  return space_.points()[next->point];
}

double ModelSearch::promise() { return proposal() ? proposal()->promise : 0; }

const std::optional<ModelSearch::Proposal>& ModelSearch::proposal() {
  if (!chosen_) chosen_ = first_.empty() ? most_promising() : Proposal{first_.back(), kInfinite};
  return *chosen_;
}

/// The best time known; before there is one, what is expected of those on their way.
double ModelSearch::incumbent() const {
  if (best_ < kInfinite) return best_;
  double least = kInfinite;
  for (size_t i = 0; i < proposed_.size(); ++i)
    if (proposed_[i]) least = std::min(least, surrogate_.mean(i));
  return least;
}

double ModelSearch::gain_of_point(size_t point, double best, double doubt) const {
  double gain = surrogate_.expected_gain(point, best, doubt);
  if (failed_) gain *= 1 - std::clamp(failures_.predict(space_.points()[point]), 0.0, kMostCertain);
  return std::max(gain, kLeastPromise);
}

/// The problem's promise is what the model believes, whether or not it is this proposal's turn to doubt.
std::optional<ModelSearch::Proposal> ModelSearch::most_promising() const {
  const double best = incumbent();
  const bool doubts = proposals_ % kDoubtful == 0;
  std::optional<Proposal> most, doubtful;
  const auto consider = [](std::optional<Proposal>& known, size_t point, double promise) {
    if (!known || promise > known->promise) known = Proposal{point, promise};
  };
  for (size_t i = 0; i < proposed_.size(); ++i) {
    if (proposed_[i]) continue;
    const double seconds = costs_.empty() ? 1 : std::exp(costs_.predict(space_.points()[i]));
    consider(most, i, gain_of_point(i, best) / seconds);
    if (doubts) consider(doubtful, i, gain_of_point(i, best, kDoubt) / seconds);
  }
  return doubtful ? Proposal{doubtful->point, most->promise} : most;
}

void ModelSearch::report(const Config& config, std::optional<double> seconds) {
  chosen_.reset();
  const size_t point = *space_.index(config);
  failures_.observe(config, seconds ? 0 : 1);
  failed_ = failed_ || !seconds;
  if (failed_) failures_.fit();
  if (!seconds) return surrogate_.fail(point);
  best_ = std::min(best_, std::log(*seconds));
  surrogate_.observe(point, std::log(*seconds));
}

void ModelSearch::took(const Config& config, double seconds) {
  chosen_.reset();
  costs_.observe(config, std::log(std::max(seconds, 1e-6)));
  costs_.fit();
}

void ModelSearch::beat(double seconds) {
  if (std::log(seconds) >= best_) return;
  best_ = std::log(seconds);
  chosen_.reset();
}

double ModelSearch::gain_of(const Config& config) const {
  const size_t point = *space_.index(config);
  if (std::ranges::find(hints_, point) != hints_.end()) return kInfinite;
  return gain_of_point(point, incumbent());
}

std::optional<double> ModelSearch::rest(size_t proposals) const {
  std::vector<size_t> left;
  for (size_t i = 0; i < proposed_.size(); ++i)
    if (!proposed_[i]) left.push_back(i);
  return surrogate_.expected_gain_of_all(left, incumbent(), proposals);
}

}  // namespace hstujit
