// Floating-point numbers as integers. What an integer cannot hold, C++ leaves undefined: every such conversion goes
// through here, unless the number was made within the type's range.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

namespace hstujit {

/// The number without its fraction, limited to [least, most]; NaN is 0, limited likewise.
template <std::integral Integer>
Integer to_integer(double value, Integer least = std::numeric_limits<Integer>::min(),
                   Integer most = std::numeric_limits<Integer>::max()) {
  if (std::isnan(value)) value = 0;
  // The ends of 64-bit types are no doubles, but round outwards: what lies between is inside of the type.
  if (value <= static_cast<double>(least)) return least;
  if (value >= static_cast<double>(most)) return most;
  return static_cast<Integer>(value);
}

/// The same of the nearest whole number; halves go to the even one.
template <std::integral Integer>
Integer to_nearest_integer(double value, Integer least = std::numeric_limits<Integer>::min(),
                           Integer most = std::numeric_limits<Integer>::max()) {
  return to_integer<Integer>(std::nearbyint(value), least, most);
}

}  // namespace hstujit
