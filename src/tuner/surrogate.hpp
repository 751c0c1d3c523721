// What is believed about every point of a space after some were measured: a Gaussian process over log time. A point's
// neighbours along each knob, and those that share some of its values, take after it. It knows what it does not know,
// so a search can weigh what promises most against what tells most.
//
//   log t(x) = prior(x) + c + b prior(x) + sum_k f_k(x_k) + g(x) + noise
//
// A knob's values are as near as their places in its table, and, where they are not all powers of two, as the powers of
// two that divide them: a block of 128 threads is more like one of 64 than like one of 112.
//
// prior: what other problems' records say, or nothing. f_k: a knob's own effect. g: what knobs do together. Points that
// are being measured count as if they came out as expected (the "kriging believer" of batched Bayesian optimisation),
// so that those proposed beside them are others.
#pragma once

#include "tuner/space.hpp"

#include <cstdint>
#include <vector>

namespace hstujit {

class Surrogate {
 public:
  /// prior: by index of the space, log time up to a constant; empty for none. The space must outlive the object.
  explicit Surrogate(const Space& space, std::vector<double> prior = {});

  /// The point is about to be measured.
  void await(size_t point);
  /// It took so long.
  void observe(size_t point, double log_seconds);
  /// It gave no time: believed to be a little slow, for what fails is often a step behind what is fastest.
  void fail(size_t point);

  size_t observed() const { return observed_; }
  /// As of now: expected log time, and its deviation.
  double mean(size_t point) const { return mean_[point]; }
  double deviation(size_t point) const;
  /// By how much the point is expected to beat `best`, a log time: the mean of max(0, best - log t). doubt: how many
  /// times larger deviations are taken to be.
  double expected_gain(size_t point, double best, double doubt = 1) const;
  /// The same of the best of several: of those of the points that promise most, `most` of them, at most kJoint.
  double expected_gain_of_all(const std::vector<size_t>& points, double best, size_t most) const;

  static constexpr size_t kMostObservations = 512;  ///< those beyond change nothing: the memory is bounded
  static constexpr size_t kJoint = 48;

 private:
  enum class State : uint8_t { awaited, known, failed };
  struct Observation {
    size_t point;
    State state;
    double value;  ///< log time less prior and level_, if known
  };
  /// What of a knob's value makes points near.
  struct Axis {
    size_t knob;
    bool alignment;  ///< the power of two that divides the value, else its place among the knob's values
  };
  struct Scales {
    std::vector<double> length;  ///< per axis, in steps
    double knobs = 0.5;          ///< share of the variance that knobs have alone
  };

  static std::vector<Axis> axes_of(const Space& space);
  static double usual_length(const Axis& axis);
  double covariance(size_t a, size_t b, const Scales& scales) const;
  void add_column(size_t observation);
  void refit();
  void solve();
  void learn_scales();
  double misfit_of(const Scales& scales, const std::vector<size_t>& known) const;
  std::vector<float> levels_of(const Config& config) const;

  const Space& space_;
  const std::vector<Axis> axes_;
  std::vector<float> levels_;  ///< point by point, where it is on each axis
  std::vector<double> prior_;
  Scales scales_;
  std::vector<Observation> observations_;
  std::vector<std::vector<float>> columns_;  ///< per observation, of all points: Cholesky's factor of the covariance
  std::vector<double> pivots_;               ///< their diagonals
  std::vector<double> weights_;              ///< what the observations say, in the factor's terms
  std::vector<double> mean_, variance_;      ///< variance_ in units of scale_
  std::vector<float> before_;                ///< of points awaited, their variance before they were; 0 of all others
  double level_ = 0;                         ///< of the first observation, less its prior
  double scale_;                             ///< variance of the process
  size_t observed_ = 0, learned_at_ = 0;
};

}  // namespace hstujit
