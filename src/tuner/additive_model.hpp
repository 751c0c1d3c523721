// A guess at log time as a sum of one effect per knob value, fitted to what was measured. It orders proposals and never
// decides: on rough spaces it is mediocre.
#pragma once

#include "tuner/space.hpp"

#include <array>
#include <vector>

namespace hstujit {

class AdditiveModel {
 public:
  /// The space must outlive the model.
  explicit AdditiveModel(const Space& space);

  void observe(const Config& config, double log_seconds);
  /// Backfitting with shrinkage: a value seen once counts little.
  void fit();
  bool empty() const { return observations_.empty(); }

  /// Predicted log time, as of the last fit.
  double predict(const Config& config) const;

 private:
  using Levels = std::array<int, kMaxKnobs>;  ///< per knob the place among its values; -1 for none: no effect
  struct Observation {
    Levels levels;
    double log_seconds;
    double rest;  ///< log_seconds less the mean and all effects
  };

  Levels levels_of(const Config& config) const;
  void refit(size_t knob);

  const Space& space_;
  double mean_ = 0;
  std::vector<std::vector<double>> effects_;  ///< per knob, per value of Space::values
  std::vector<Observation> observations_;
};

}  // namespace hstujit
