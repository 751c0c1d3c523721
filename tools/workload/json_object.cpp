#include "workload/json_object.hpp"

#include "support/json_integer.hpp"

#include <cmath>

namespace hstujit {
namespace {

/// nlohmann keeps the last of two equal keys without a word; this callback does not.
class RepeatedKeys {
 public:
  bool operator()(int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.back().insert(value.get<std::string>()).second)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "the key {} stands twice in one object", shown_json(value));
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

}  // namespace

Json parse_json(std::string_view text) {
  try {
    return read_json(text, RepeatedKeys());
  } catch (const Json::parse_error& error) {
    fail(HSTU_ERROR_INVALID_ARGUMENT, "not JSON: {}", shown_reason(error));
  } catch (const Json::exception& error) {
    fail(HSTU_ERROR_INVALID_ARGUMENT, "not usable JSON: {}", shown_reason(error));
  }
}

std::string child(std::string_view pointer, std::string_view token) {
  std::string result(pointer);
  result += '/';
  for (const char c : token) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

int64_t integer_of(const Json& value, std::string_view pointer, Range range) {
  if (!value.is_number_integer()) fail_at(pointer, "{}: an integer belongs here", shown_json(value));
  const auto integer = integer_as<int64_t>(value);
  if (!integer || *integer < range.least || *integer > range.most)
    fail_at(pointer, "{}: it must be from {} to {}", shown_json(value), range.least, range.most);
  return *integer;
}

float float_of(const Json& value, std::string_view pointer) {
  if (!value.is_number()) fail_at(pointer, "{}: a number belongs here", shown_json(value));
  const double number = value.get<double>();
  if (std::abs(number) > static_cast<double>(std::numeric_limits<float>::max()))
    fail_at(pointer, "{}: it must fit a float of 32 bits", number);
  return static_cast<float>(number);
}

JsonObject::JsonObject(const Json& value, std::string pointer) : object_(value), pointer_(std::move(pointer)) {
  if (!value.is_object()) fail_at(pointer_, "{}: an object {{...}} belongs here", shown_json(value));
}

const Json* JsonObject::find(std::string_view key) {
  asked_.emplace(key);
  return peek(key);
}

const Json* JsonObject::peek(std::string_view key) const {
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

const Json& JsonObject::require(std::string_view key) {
  if (const Json* value = find(key)) return *value;
  fail_at(pointer_of(key), "missing");
}

int64_t JsonObject::integer(std::string_view key, Range range, std::optional<int64_t> fallback) {
  if (fallback && !find(key)) return *fallback;
  return integer_of(require(key), pointer_of(key), range);
}

double JsonObject::number(std::string_view key, std::optional<double> fallback) {
  if (fallback && !find(key)) return *fallback;
  const Json& value = require(key);
  if (!value.is_number()) fail_at(pointer_of(key), "{}: a number belongs here", shown_json(value));
  return value.get<double>();
}

float JsonObject::small_number(std::string_view key, std::optional<float> fallback) {
  if (fallback && !find(key)) return *fallback;
  return float_of(require(key), pointer_of(key));
}

bool JsonObject::flag(std::string_view key, std::optional<bool> fallback) {
  if (fallback && !find(key)) return *fallback;
  const Json& value = require(key);
  if (!value.is_boolean()) fail_at(pointer_of(key), "{}: true or false belongs here", shown_json(value));
  return value.get<bool>();
}

std::string JsonObject::text(std::string_view key, std::optional<std::string> fallback) {
  if (fallback && !find(key)) return *fallback;
  const Json& value = require(key);
  if (!value.is_string()) fail_at(pointer_of(key), "{}: a text belongs here", shown_json(value));
  return value.get<std::string>();
}

void JsonObject::finish() const {
  for (const auto& [key, value] : object_.items())
    if (!asked_.contains(key)) fail_at(pointer_of(key), "unknown; known here: {}", fmt::join(asked_, ", "));
}

}  // namespace hstujit
