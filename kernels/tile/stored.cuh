// The type of a product's results in memory.
#pragma once
#include "prim/types.cuh"

namespace hstu::tile {

template <class...>
struct AlwaysVoid {
  using type = void;
};

// What results are stored as: Config's Fp8, or Element where it has none.
template <class Config, class = void>
struct StoredOf {
  using type = typename Config::Element;
};
template <class Config>
struct StoredOf<Config, typename AlwaysVoid<typename Config::Fp8>::type> {
  using type = typename Config::Fp8;
};

}  // namespace hstu::tile
