// JSON of all rooms: nlohmann's, whose parser and writer only json.cpp compiles, since each file that uses them would.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace hstujit {

using Json = nlohmann::json;

/// Json::parse. Throws Json::exception, or returns what is_discarded() where `throws` is false.
Json read_json(std::string_view text, const Json::parser_callback_t& callback = nullptr, bool throws = true);

/// Json::dump: in one line, or indented.
std::string write_json(const Json& value, int indent = -1,
                       Json::error_handler_t wrong_utf8 = Json::error_handler_t::strict);

}  // namespace hstujit
