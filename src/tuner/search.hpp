// Strategies: in which order a space is visited. A strategy proposes configurations and is told what they took; it does
// not know about compilers or devices, so every one also runs against the Simulator. Deterministic under its seed and
// the order of reports.
//
// Gains are differences of log time: 0.01 is one per cent. A strategy without a model expects kBlindGain of everything.
#pragma once

#include "tuner/space.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace hstujit {

class Search {
 public:
  virtual ~Search() = default;

  /// The next configuration to try, never one that was proposed before. Nothing: wait for a report, or, when none is
  /// outstanding, the search is over.
  virtual std::optional<Config> next() = 0;

  /// What a proposed configuration took; nothing when it failed. Reports may come in any order.
  virtual void report(const Config& config, std::optional<double> seconds) = 0;

  /// Seconds that trying the configuration took, compilation and all.
  virtual void took(const Config&, double) {}
  /// Something outside of the space is so fast: gains are over the best of all.
  virtual void beat(double) {}
  /// What the next proposal is expected to gain; per second if that is known; 0 when there is none.
  virtual double promise() { return kBlindGain; }
  /// What a proposed configuration is expected to gain, by what is known now.
  virtual double gain_of(const Config&) const { return kBlindGain; }
  /// What so many further proposals are expected to gain together; nothing where the strategy has no idea.
  virtual std::optional<double> rest(size_t) const { return std::nullopt; }

  static constexpr double kBlindGain = 0.01;
};

/// All points: the default, the hints, then the others in random order, so that a search cut short has seen a sample.
class ExhaustiveSearch : public Search {
 public:
  ExhaustiveSearch(const Space& space, const std::vector<Config>& hints, uint64_t seed);
  std::optional<Config> next() override;
  void report(const Config&, std::optional<double>) override {}

 private:
  std::vector<Config> order_;
  size_t position_ = 0;
};

/// What a search may know beforehand.
struct Beforehand {
  std::vector<Config> hints = {};  ///< did well on similar problems; those outside the space are ignored
  std::vector<double> prior = {};  ///< by index of the space, log time up to a constant, from other problems; or empty
};

/// A strategy by its name: "exhaustive", "random" (the same, for those who mean to cut it short), "local" or "model".
/// Null for another name.
std::unique_ptr<Search> make_search(std::string_view name, const Space& space, const Beforehand& known, uint64_t seed);

/// "model": it ends when it has seen everything, too.
inline constexpr std::string_view kDefaultStrategy = "model";

}  // namespace hstujit
