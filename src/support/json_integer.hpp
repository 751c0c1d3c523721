// Whole numbers in foreign JSON.
#pragma once

#include "support/json.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace hstujit {

/// `value` when it is a whole number that T can hold. json::get casts whatever number it finds: 1e65 is then undefined
/// behaviour, and 2^40 becomes some int.
template <class T>
std::optional<T> integer_as(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto exact = [](auto number) {
    return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
  };
  return value.is_number_unsigned() ? exact(value.get<uint64_t>()) : exact(value.get<int64_t>());
}

}  // namespace hstujit
