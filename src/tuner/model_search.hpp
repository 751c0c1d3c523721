// The strategy against the clock: each proposal is the point that a Surrogate expects most from, per second that trying
// it takes, those that are on their way taken as measured; one in four is what somebody would try who trusts the model
// less. Begins with the default and the hints, and where other
// problems say nothing with a few points at random. Visits everything in the end.
#pragma once

#include "tuner/additive_model.hpp"
#include "tuner/search.hpp"
#include "tuner/surrogate.hpp"

namespace hstujit {

class ModelSearch : public Search {
 public:
  /// The space must outlive the search.
  ModelSearch(const Space& space, const Beforehand& known, uint64_t seed);
  std::optional<Config> next() override;
  void report(const Config& config, std::optional<double> seconds) override;
  void took(const Config& config, double seconds) override;
  void beat(double seconds) override;
  double promise() override;
  double gain_of(const Config& config) const override;
  std::optional<double> rest(size_t proposals) const override;

 private:
  /// A point with what it promises.
  struct Proposal {
    size_t point;
    double promise;
  };

  const std::optional<Proposal>& proposal();
  std::optional<Proposal> most_promising() const;
  double gain_of_point(size_t point, double best, double doubt = 1) const;
  double incumbent() const;

  const Space& space_;
  Surrogate surrogate_;
  AdditiveModel failures_;      ///< 1 for a failure, 0 for none
  AdditiveModel costs_;         ///< log seconds
  std::vector<bool> proposed_;  ///< by index
  size_t proposals_ = 0;
  std::vector<size_t> first_;                      ///< to be proposed before the model is asked, the last one first
  std::vector<size_t> hints_;                      ///< to be measured before all others, too
  double best_;                                    ///< log time; infinite while unknown
  bool failed_ = false;                            ///< something did
  std::optional<std::optional<Proposal>> chosen_;  ///< what comes next; absent until somebody asks
};

}  // namespace hstujit
