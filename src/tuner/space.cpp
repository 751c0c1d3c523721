#include "tuner/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hstujit {
namespace {

/// Position among the knob's values; of a value that is not listed, where it would stand by size.
size_t position(const std::vector<int32_t>& values, int32_t value) {
  const auto at = std::find(values.begin(), values.end(), value);
  if (at != values.end()) return static_cast<size_t>(at - values.begin());
  return static_cast<size_t>(std::count_if(values.begin(), values.end(), [&](int32_t v) { return v < value; }));
}

/// Calls visit(config) for every point of the cartesian product, last knob fastest.
template <class Visit>
void for_product(const std::vector<std::vector<int32_t>>& values, Visit visit) {
  std::vector<size_t> digit(values.size(), 0);
  for (;;) {
    Config config;
    for (size_t k = 0; k < values.size(); ++k) config.value[k] = values[k][digit[k]];
    visit(config);
    size_t k = values.size();
    while (k > 0 && ++digit[k - 1] == values[k - 1].size()) digit[--k] = 0;
    if (k == 0) return;
  }
}

}  // namespace

std::string space_text(const Family& family) {
  std::string out;
  for (const Knob& knob : family.knobs)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", knob.name, fmt::join(knob.values, ","));
  return out;
}

Space::Space(std::vector<std::vector<int32_t>> values, const std::vector<Config>& points, const Config& standard)
    : values_(std::move(values)) {
  points_.reserve(points.size() + 1);
  points_.push_back(standard);
  index_.emplace(standard, 0);
  for (const Config& point : points)
    if (index_.emplace(point, points_.size()).second) points_.push_back(point);
}

std::vector<Config> Space::along(const Config& config, size_t knob) const {
  std::vector<Config> out;
  Config other = config;
  for (const int32_t value : values_[knob]) {
    other.value[knob] = value;
    if (value != config.value[knob] && contains(other)) out.push_back(other);
  }
  return out;
}

size_t Space::steps(const Config& a, const Config& b) const {
  size_t sum = 0;
  for (size_t knob = 0; knob < values_.size(); ++knob) {
    const size_t from = position(values_[knob], a.value[knob]), to = position(values_[knob], b.value[knob]);
    sum += from < to ? to - from : from - to;
  }
  return sum;
}

std::vector<Config> Space::neighbours(const Config& config) const {
  std::vector<Config> out;
  for (size_t knob = 0; knob < values_.size(); ++knob) {
    const size_t here = position(values_[knob], config.value[knob]);
    const auto place = [&](const Config& c) { return position(values_[knob], c.value[knob]); };
    const Config *below = nullptr, *above = nullptr;
    const std::vector<Config> line = along(config, knob);
    for (const Config& c : line) {
      if (place(c) < here && (!below || place(c) > place(*below))) below = &c;
      if (place(c) >= here && (!above || place(c) < place(*above))) above = &c;
    }
    if (below) out.push_back(*below);
    if (above) out.push_back(*above);
  }
  return out;
}

Space enumerate(const Family& family, const Problem& problem, const DeviceFacts& device, SpaceCensus* census,
                Width width) {
  std::vector<std::vector<int32_t>> values;
  for (const Knob& knob : family.knobs) values.emplace_back(knob.values.begin(), knob.values.end());
  SpaceCensus count;
  std::vector<Config> points;
  const auto allowed = [&](const Config& config) {
    return width == Width::wide ? works(family, problem, config, device) : legal(family, problem, config, device);
  };
  for_product(values, [&](const Config& config) {
    ++count.product;
    if (!allowed(config))
      ++count.illegal;
    else if (!misfit(family.resources(problem, config), device).empty())
      ++count.misfits;
    else
      points.push_back(config);
  });
  if (census) *census = count;
  return Space(std::move(values), points, family.default_config(problem, device));
}

}  // namespace hstujit
