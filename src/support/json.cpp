#include "support/json.hpp"

#include "support/shown.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit {
namespace {

class TooDeep : public Json::exception {
 public:
  TooDeep() : Json::exception(0, "it is nested more than 64 deep") {}
};
static_assert(kDeepestJson == 64, "the text above says it");

/// By brackets alone: what is no JSON is for the parser to find out.
bool is_too_deep(std::string_view text) {
  // Few brackets cannot nest deeply; counting them takes a fraction of looking at what is quoted.
  const auto opens = [](char c) { return (c | 0x20) == '{'; };  // '[' lacks that bit
  if (std::count_if(text.begin(), text.end(), opens) <= kDeepestJson) return false;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++depth > kDeepestJson) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

/// Type, as the library's own destroy() of the same version, names which member of the union lives.
template <class Value, class Type>
void destroy_value(Value& value, Type type) {
  switch (type) {
    case Type::object:
      return delete value.object;
    case Type::array:
      return delete value.array;
    case Type::string:
      return delete value.string;
    case Type::binary:
      return delete value.binary;
    default:
      return;  // lives in the union itself
  }
}

}  // namespace

Json read_json(std::string_view text, const Json::parser_callback_t& callback, bool throws) {
  if (is_too_deep(text)) {
    if (throws) throw TooDeep();
    return Json(Json::value_t::discarded);
  }
  return Json::parse(text, callback, throws);
}

std::string write_json(const Json& value, int indent, Json::error_handler_t wrong_utf8) {
  return value.dump(indent, ' ', false, wrong_utf8);
}

std::string shown_json(const Json& value) {
  if (value.is_structured() && value.empty()) return value.is_array() ? "[]" : "{}";
  if (value.is_array()) return fmt::format("[a list of {}]", value.size());
  if (value.is_object()) return fmt::format("{{an object of {}}}", value.size());
  if (value.is_string()) return fmt::format("\"{}\"", shown(value.get_ref<const std::string&>()));
  return shown(write_json(value, -1, Json::error_handler_t::replace));
}

std::string shown_reason(const Json::exception& error) {
  constexpr size_t kMostOfReason = 240;
  return shown(error.what(), kMostOfReason);
}

}  // namespace hstujit

template <>
void hstujit::Json::json_value::destroy(value_t type) {
  hstujit::destroy_value(*this, type);
}
template <>
void hstujit::OrderedJson::json_value::destroy(value_t type) {
  hstujit::destroy_value(*this, type);
}
