// JSON of all rooms: nlohmann's, whose parser and writer only json.cpp compiles, since each file that uses them would.
#pragma once

#include "support/json_fwd.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace hstujit {

template <class T, class Condition>
struct JsonSerializer : nlohmann::adl_serializer<T, Condition> {};

/// Deeper than this nothing of ours is nested; what is done to a value goes as deep into the stack as it is.
constexpr int kDeepestJson = 64;

/// Json::parse, of what is nested no deeper than that. Throws Json::exception, or returns what is_discarded() where
/// `throws` is false.
Json read_json(std::string_view text, const Json::parser_callback_t& callback = nullptr, bool throws = true);

/// Json::dump: in one line, or indented.
std::string write_json(const Json& value, int indent = -1,
                       Json::error_handler_t wrong_utf8 = Json::error_handler_t::strict);

/// A value as a message shows it: of a scalar the first characters, escaped; of what holds others, what it is.
std::string shown_json(const Json& value);
/// What the parser says, which has the text that it stopped at.
std::string shown_reason(const Json::exception& error);

}  // namespace hstujit

// nlohmann's destructor allocates a list of what to destroy, so that depth does not become a depth of calls, and ends
// the process where there is no memory for it. These need none; read_json() bounds the depth.
template <>
void hstujit::Json::json_value::destroy(value_t type);
template <>
void hstujit::OrderedJson::json_value::destroy(value_t type);
