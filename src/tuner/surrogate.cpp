#include "tuner/surrogate.hpp"

#include "support/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace hstujit {
namespace {

constexpr double kNoise = 2e-3;       // of the process's variance: times are good to a percent
constexpr double kConstant = 10;      // how far, in those units, the level of a problem may be from anything
constexpr double kPriorSlope = 4;     // in those units, how far other problems may exaggerate: by half, squared
constexpr double kUsualScale = 0.06;  // variance of log time over a space before anything is known: a quarter
constexpr double kScaleTrust = 3;     // so many observations it is worth
constexpr double kFailure = 0.1;      // deviations by which a failure counts as slow: more would condemn its values
constexpr double kUsualLength = 2.5;  // steps of a knob after which little is shared
constexpr double kUsualPowers = 5;    // the same of powers of two
constexpr uint32_t kMostAligned = 256;
constexpr size_t kFirstLearning = 12;  // observations before scales are learned
constexpr size_t kMostLearnedFrom = 128;

double normal_density(double u) { return std::exp(-0.5 * u * u) / std::sqrt(2 * std::numbers::pi); }
double normal_below(double u) { return 0.5 * std::erfc(-u / std::numbers::sqrt2); }

/// In place, lower triangle, of n x n; the log of its determinant. Rows are doubled in size where they degenerate.
double cholesky(std::vector<double>& a, size_t n) {
  double log_determinant = 0;
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-9)) : sum / a[j * n + j];
    }
    log_determinant += 2 * std::log(a[j * n + j]);
  }
  return log_determinant;
}

}  // namespace

Surrogate::Surrogate(const Space& space, std::vector<double> prior)
    : space_(space), axes_(axes_of(space)), prior_(std::move(prior)), scale_(kUsualScale) {
  prior_.resize(space.size(), 0.0);
  levels_.reserve(space.size() * axes_.size());
  for (const Config& config : space.points()) {
    const std::vector<float> levels = levels_of(config);
    levels_.insert(levels_.end(), levels.begin(), levels.end());
  }
  for (const Axis& axis : axes_) scales_.length.push_back(usual_length(axis));
  refit();
}

std::vector<Surrogate::Axis> Surrogate::axes_of(const Space& space) {
  std::vector<Axis> axes;
  for (size_t k = 0; k < space.knobs(); ++k) axes.push_back({k, false});
  for (size_t k = 0; k < space.knobs(); ++k) {
    const std::vector<int32_t>& values = space.values(k);
    const auto is_odd = [](int32_t v) { return v > 0 && !std::has_single_bit(static_cast<uint32_t>(v)); };
    const auto is_negative = [](int32_t v) { return v < 0; };
    if (values.size() > 2 && std::ranges::any_of(values, is_odd) && std::ranges::none_of(values, is_negative))
      axes.push_back({k, true});
  }
  return axes;
}

double Surrogate::usual_length(const Axis& axis) { return axis.alignment ? kUsualPowers : kUsualLength; }

std::vector<float> Surrogate::levels_of(const Config& config) const {
  std::vector<float> levels;
  for (const auto& [knob, alignment] : axes_) {
    const auto& values = space_.values(knob);
    const int32_t value = config.value[knob];
    const auto at = std::find(values.begin(), values.end(), value);  // one that is not listed stands behind the others
    levels.push_back(static_cast<float>(alignment ? std::countr_zero(static_cast<uint32_t>(value) | kMostAligned)
                                                  : at - values.begin()));
  }
  return levels;
}

double Surrogate::covariance(size_t a, size_t b, const Scales& scales) const {
  const size_t axes = axes_.size();
  const float* const x = &levels_[a * axes];
  const float* const y = &levels_[b * axes];
  double together = 0, alone = 0;
  for (size_t k = 0; k < axes; ++k) {
    const double away = std::abs(x[k] - y[k]) / scales.length[k];
    together += away;
    alone += std::exp(-away);
  }
  return kConstant + kPriorSlope * prior_[a] * prior_[b] + scales.knobs * alone / static_cast<double>(axes) +
         (1 - scales.knobs) * std::exp(-together);
}

void Surrogate::await(size_t point) {
  observations_.push_back({point, State::awaited, 0});
  if (observations_.size() <= kMostObservations) add_column(observations_.size() - 1);
}

void Surrogate::observe(size_t point, double log_seconds) {
  const auto is_it = [&](const Observation& o) { return o.point == point; };
  if (std::ranges::none_of(observations_, is_it)) await(point);
  Observation& observation = *std::ranges::find_if(observations_, is_it);
  observation.state = State::known;
  if (observed_ == 0) level_ = log_seconds - prior_[point];
  observation.value = log_seconds - prior_[point] - level_;
  before_[point] = 0;
  ++observed_;
  if (observed_ >= kFirstLearning && observed_ * 2 >= learned_at_ * 3 && observed_ <= kMostObservations) {
    learned_at_ = observed_;
    learn_scales();
    refit();
  } else {
    solve();
  }
}

void Surrogate::fail(size_t point) {
  for (Observation& o : observations_)
    if (o.point == point) o.state = State::failed;
  before_[point] = 0;
  solve();
}

/// What is left of the covariance with the new point after all before it, of every point.
void Surrogate::add_column(size_t observation) {
  const size_t at = observations_[observation].point;
  std::vector<float> column(space_.size());
  for (size_t i = 0; i < column.size(); ++i) column[i] = static_cast<float>(covariance(i, at, scales_));
  for (const std::vector<float>& before : columns_) {
    const float weight = before[at];
    for (size_t i = 0; i < column.size(); ++i) column[i] -= weight * before[i];
  }
  const double pivot = std::sqrt(std::max(0.0, static_cast<double>(column[at])) + kNoise);
  if (observations_[observation].state == State::awaited) before_[at] = static_cast<float>(pivot * pivot - kNoise);
  const auto inverse = static_cast<float>(1 / pivot);
  for (size_t i = 0; i < column.size(); ++i) {
    column[i] *= inverse;
    variance_[i] -= static_cast<double>(column[i]) * static_cast<double>(column[i]);
  }
  pivots_.push_back(pivot);
  columns_.push_back(std::move(column));
}

void Surrogate::refit() {
  columns_.clear();
  pivots_.clear();
  variance_.resize(space_.size());
  before_.assign(space_.size(), 0.0f);
  for (size_t i = 0; i < variance_.size(); ++i) variance_[i] = covariance(i, i, scales_);
  for (size_t o = 0; o < std::min(observations_.size(), kMostObservations); ++o) add_column(o);
  solve();
}

/// Forward substitution; those awaited come out as expected, failures a little slower. Also learns the scale.
void Surrogate::solve() {
  const size_t n = columns_.size();
  weights_.assign(n, 0.0);
  double sum = kScaleTrust * kUsualScale, count = kScaleTrust;
  bool first = true;
  for (size_t o = 0; o < n; ++o) {
    const Observation& observation = observations_[o];
    if (observation.state == State::awaited) continue;
    const double pivot = pivots_[o];
    if (observation.state == State::failed) {
      weights_[o] = kFailure * std::sqrt(scale_) * std::sqrt(std::max(0.0, pivot * pivot - kNoise)) / pivot;
      if (first) weights_[o] = 0;
      continue;
    }
    double rest = observation.value;
    for (size_t i = 0; i < o; ++i) rest -= weights_[i] * static_cast<double>(columns_[i][observation.point]);
    weights_[o] = rest / pivot;
    if (!first) {  // the first one only tells the level
      sum += weights_[o] * weights_[o];
      count += 1;
    }
    first = false;
  }
  scale_ = sum / count;
  mean_ = prior_;
  for (double& mean : mean_) mean += level_;
  for (size_t o = 0; o < n; ++o) {
    if (weights_[o] == 0) continue;
    const double weight = weights_[o];
    const std::vector<float>& column = columns_[o];
    for (size_t i = 0; i < mean_.size(); ++i) mean_[i] += weight * static_cast<double>(column[i]);
  }
}

/// -2 log likelihood of the known values, the best scale put in.
double Surrogate::misfit_of(const Scales& scales, const std::vector<size_t>& known) const {
  const size_t n = known.size();
  std::vector<double> a(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j)
      a[i * n + j] =
          covariance(observations_[known[i]].point, observations_[known[j]].point, scales) + (i == j ? kNoise : 0.0);
  const double log_determinant = cholesky(a, n);
  double sum = kScaleTrust * kUsualScale;
  std::vector<double> z(n);
  for (size_t i = 0; i < n; ++i) {
    double rest = observations_[known[i]].value;
    for (size_t j = 0; j < i; ++j) rest -= a[i * n + j] * z[j];
    z[i] = rest / a[i * n + i];
    if (i > 0) sum += z[i] * z[i];
  }
  return static_cast<double>(n) * std::log(sum / static_cast<double>(n)) + log_determinant;
}

/// Coordinate descent on few values each: what knobs matter, and how much of it they do alone.
void Surrogate::learn_scales() {
  constexpr double kLengths[] = {0.7, 1.4, 2.5, 5, 12, 40};
  constexpr double kShares[] = {0.1, 0.3, 0.5, 0.7, 0.9};
  std::vector<size_t> known;
  for (size_t o = 0; o < observations_.size() && known.size() < kMostLearnedFrom; ++o)
    if (observations_[o].state == State::known) known.push_back(o);
  const auto penalty = [](double length, double usual) { return 0.5 * std::pow(std::log(length / usual), 2); };
  const auto total = [&](const Scales& scales) {
    double sum = misfit_of(scales, known);
    for (size_t k = 0; k < axes_.size(); ++k) sum += penalty(scales.length[k], usual_length(axes_[k]));
    return sum;
  };
  double best = total(scales_);
  const auto attempt = [&](Scales scales) {
    const double now = total(scales);
    if (now >= best - 1e-9) return;
    best = now;
    scales_ = std::move(scales);
  };
  for (size_t k = 0; k < axes_.size(); ++k) {
    if (space_.values(axes_[k].knob).size() < 2) continue;
    for (const double length : kLengths) {
      Scales scales = scales_;
      scales.length[k] = length;
      attempt(std::move(scales));
    }
  }
  for (const double share : kShares) {
    Scales scales = scales_;
    scales.knobs = share;
    attempt(std::move(scales));
  }
}

double Surrogate::deviation(size_t point) const {
  const double variance = std::max(variance_[point], static_cast<double>(before_[point]));
  return std::sqrt(std::max(variance, 1e-12) * scale_);
}

double Surrogate::expected_gain(size_t point, double best, double doubt) const {
  const double s = doubt * deviation(point), gain = best - mean_[point], u = gain / s;
  return std::max(0.0, gain * normal_below(u) + s * normal_density(u));
}

double Surrogate::expected_gain_of_all(const std::vector<size_t>& points, double best, size_t most) const {
  std::vector<std::pair<double, size_t>> promising;
  for (const size_t point : points) promising.emplace_back(-expected_gain(point, best), point);
  const size_t n = std::min({promising.size(), most, kJoint});
  std::partial_sort(promising.begin(), promising.begin() + static_cast<std::ptrdiff_t>(n), promising.end());
  std::vector<double> a(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = covariance(promising[i].second, promising[j].second, scales_) + (i == j ? 1e-6 : 0.0);
      for (const std::vector<float>& column : columns_)
        sum -= static_cast<double>(column[promising[i].second]) * static_cast<double>(column[promising[j].second]);
      a[i * n + j] = sum;
    }
  cholesky(a, n);
  constexpr int kDraws = 200;
  Random random(1);
  double gained = 0;
  std::vector<double> normal(n);
  for (int draw = 0; draw < kDraws; ++draw) {
    for (double& x : normal) x = static_cast<double>(random.bell());
    double lowest = best;
    for (size_t i = 0; i < n; ++i) {
      double value = mean_[promising[i].second];
      for (size_t j = 0; j <= i; ++j) value += std::sqrt(scale_) * a[i * n + j] * normal[j];
      lowest = std::min(lowest, value);
    }
    gained += best - lowest;
  }
  return gained / kDraws;
}

}  // namespace hstujit
