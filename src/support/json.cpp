#include "support/json.hpp"

namespace hstujit {

Json read_json(std::string_view text, const Json::parser_callback_t& callback, bool throws) {
  return Json::parse(text, callback, throws);
}

std::string write_json(const Json& value, int indent, Json::error_handler_t wrong_utf8) {
  return value.dump(indent, ' ', false, wrong_utf8);
}

}  // namespace hstujit
