// The points a search may visit: the knob table of a family, cut down to what is legal for a problem and fits the
// device, known without compiling.
#pragma once

#include "families/fit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hstujit {

/// "block_m=64,128 stages=2,3": the knob table a trial was drawn from.
std::string space_text(const Family& family);

class Space {
 public:
  /// A space given by its points: values[k] are knob k's values in the order of its steps. The standard configuration
  /// belongs to it whether or not it is among the points.
  Space(std::vector<std::vector<int32_t>> values, const std::vector<Config>& points, const Config& standard);

  /// The default first, then lexicographic in the order of the knobs' values; the same on every machine.
  const std::vector<Config>& points() const { return points_; }
  const Config& standard() const { return points_.front(); }
  size_t size() const { return points_.size(); }
  bool contains(const Config& config) const { return index_.contains(config); }
  /// Where it stands in points().
  std::optional<size_t> index(const Config& config) const {
    const auto found = index_.find(config);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }
  size_t knobs() const { return values_.size(); }
  const std::vector<int32_t>& values(size_t knob) const { return values_[knob]; }

  /// One knob, one step: for each knob the next point below and above along its values.
  std::vector<Config> neighbours(const Config& config) const;
  /// All points that differ from config in this knob only.
  std::vector<Config> along(const Config& config, size_t knob) const;
  /// Steps from a to b along the knobs' values, summed.
  size_t steps(const Config& a, const Config& b) const;

 private:
  struct Hash {
    size_t operator()(const Config& c) const { return hash64(c.value.data(), sizeof c.value); }
  };

  std::vector<std::vector<int32_t>> values_;
  std::vector<Config> points_;
  std::unordered_map<Config, size_t, Hash> index_;
};

/// What became of the cartesian product of a family's knobs.
struct SpaceCensus {
  int64_t product = 0;
  int64_t illegal = 0;  ///< broke a rule
  int64_t misfits = 0;  ///< legal, but too large for the device
};

/// Which rules cut a space down: all of them, as tuning has it, or not those for speed, to see what these refuse.
enum class Width { usual, wide };

/// Enumerates the configurations of a family that fit. The default is always among them.
Space enumerate(const Family& family, const Problem& problem, const DeviceFacts& device, SpaceCensus* census = nullptr,
                Width width = Width::usual);

}  // namespace hstujit
