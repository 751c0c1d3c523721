// Strategies: in which order a space is visited. A strategy proposes configurations and is told what they took; it does
// not know about time, compilers or devices, so every one also runs against the Simulator. Deterministic under its seed
// and the order of reports.
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

/// Spaces up to this size are searched completely.
constexpr size_t kExhaustiveLimit = 256;

/// A strategy by its name: "exhaustive", "random" (the same, for those who mean to cut it short) or "local". hints:
/// configurations that did well on similar problems; those outside the space are ignored. Null for another name.
std::unique_ptr<Search> make_search(std::string_view name, const Space& space, const std::vector<Config>& hints,
                                    uint64_t seed);

/// "exhaustive" for spaces up to kExhaustiveLimit, "local" beyond.
std::string_view default_strategy(const Space& space);

}  // namespace hstujit
