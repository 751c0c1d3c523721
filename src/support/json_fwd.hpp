// The types of support/json.hpp, for headers that only name them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hstujit {

/// Makes types of our own of nlohmann's, so that what json.hpp says of their destructor concerns nobody else's JSON.
template <class T, class Condition = void>
struct JsonSerializer;

using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, double,
                                  std::allocator, JsonSerializer>;
/// The same with members in the order of their insertion.
using OrderedJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, double, std::allocator, JsonSerializer>;

}  // namespace hstujit
