// What was measured of other problems says much about a new one: which values of a family's knobs go well together
// changes slowly from problem to problem.
#pragma once

#include "records/records.hpp"
#include "tuner/space.hpp"

#include <map>
#include <string>
#include <vector>

namespace hstujit {

/// How much two problems of one operator differ, for whoever takes a hint from one for the other: never infinite.
double unlikeness(const Problem& a, const Problem& b);

class Experience {
 public:
  /// A configuration with its log time.
  struct Known {
    Config config;
    double log_seconds;
  };

  /// What is known of a family on one problem. Fewer than a handful of configurations are not worth keeping.
  void add(const Family& family, const Problem& problem, std::vector<Known> known);
  /// The jobs of the problems near this one that the records have trials of.
  void add_near(const Records& records, const Problem& problem, std::string_view device_class,
                const std::vector<const Family*>& families);

  /// Of every point of the space, log time up to a constant, from all problems but this one: near ones count most.
  /// Empty when nothing is known.
  std::vector<double> prior(const Family& family, const Problem& problem, const Space& space) const;

 private:
  struct Measured {
    Problem problem;
    std::vector<Known> known;
  };
  std::map<std::string, std::vector<Measured>, std::less<>> of_family_;
};

}  // namespace hstujit
