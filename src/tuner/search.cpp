#include "tuner/search.hpp"

#include "tuner/local_search.hpp"
#include "tuner/model_search.hpp"

#include <algorithm>

namespace hstujit {
namespace {

/// The default, the hints, then everything else shuffled.
std::vector<Config> order_of(const Space& space, const std::vector<Config>& hints, uint64_t seed) {
  std::vector<Config> first{space.standard()};
  for (const Config& hint : hints)
    if (space.contains(hint) && std::find(first.begin(), first.end(), hint) == first.end()) first.push_back(hint);
  std::vector<Config> rest;
  for (const Config& config : space.points())
    if (std::find(first.begin(), first.end(), config) == first.end()) rest.push_back(config);
  Random(seed).shuffle(rest);
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

using Factory = std::unique_ptr<Search> (*)(const Space&, const Beforehand&, uint64_t);

struct Strategy {
  std::string_view name;
  Factory make;
};

template <class T>
std::unique_ptr<Search> make(const Space& space, const Beforehand& known, uint64_t seed) {
  return std::make_unique<T>(space, known.hints, seed);
}

std::unique_ptr<Search> make_model(const Space& space, const Beforehand& known, uint64_t seed) {
  return std::make_unique<ModelSearch>(space, known, seed);
}

constexpr Strategy kStrategies[] = {
    {"exhaustive", make<ExhaustiveSearch>},
    {"random", make<ExhaustiveSearch>},  // its order is random: what counts is where the budget cuts it
    {"local", make<LocalSearch>},
    {"model", make_model}};

}  // namespace

ExhaustiveSearch::ExhaustiveSearch(const Space& space, const std::vector<Config>& hints, uint64_t seed)
    : order_(order_of(space, hints, seed)) {}

std::optional<Config> ExhaustiveSearch::next() {
  return position_ < order_.size() ? std::optional(order_[position_++]) : std::nullopt;
}

std::unique_ptr<Search> make_search(std::string_view name, const Space& space, const Beforehand& known, uint64_t seed) {
  for (const Strategy& strategy : kStrategies)
    if (strategy.name == name) return strategy.make(space, known, seed);
  return nullptr;
}

}  // namespace hstujit
