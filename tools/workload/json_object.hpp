// Strict reading of JSON: every value is checked as it is taken, every error carries the JSON pointer of the offending
// field, and a key that nobody took is an error.
#pragma once

#include "support/error.hpp"
#include "support/json.hpp"
#include "support/shown.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hstujit {

/// The text as JSON; repeated keys are errors, too. Throws Error{INVALID_ARGUMENT} with line and column.
Json parse_json(std::string_view text);

constexpr size_t kMostOfPointer = 300;  // keys are the file's

/// Throws "<pointer>: <message>"; the document itself is "(document)".
template <class... Args>
[[noreturn]] void fail_at(std::string_view pointer, fmt::format_string<Args...> text, Args&&... args) {
  fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {}", pointer.empty() ? "(document)" : shown(pointer, kMostOfPointer),
       fmt::format(text, std::forward<Args>(args)...));
}

/// `pointer` extended by one reference token, escaped as RFC 6901 asks.
std::string child(std::string_view pointer, std::string_view token);

struct Range {
  int64_t least = 0, most = std::numeric_limits<int64_t>::max();
};

/// `value` as an integer within the range.
int64_t integer_of(const Json& value, std::string_view pointer, Range range);
/// `value` as a number that 32 bits hold: none becomes infinite.
float float_of(const Json& value, std::string_view pointer);

class JsonObject {
 public:
  /// Throws unless value is an object. value must outlive this.
  JsonObject(const Json& value, std::string pointer);

  const std::string& pointer() const { return pointer_; }
  std::string pointer_of(std::string_view key) const { return child(pointer_, key); }

  /// The member, or null when there is none. Counts as taken.
  const Json* find(std::string_view key);
  /// The same, but it does not count.
  const Json* peek(std::string_view key) const;
  /// The member; throws when there is none.
  const Json& require(std::string_view key);

  // Without a fallback the member is required.
  int64_t integer(std::string_view key, Range range, std::optional<int64_t> fallback = std::nullopt);
  double number(std::string_view key, std::optional<double> fallback = std::nullopt);
  float small_number(std::string_view key, std::optional<float> fallback = std::nullopt);  ///< see float_of()
  bool flag(std::string_view key, std::optional<bool> fallback = std::nullopt);
  std::string text(std::string_view key, std::optional<std::string> fallback = std::nullopt);

  template <class T>
  using Words = std::span<const std::pair<std::string_view, T>>;
  /// One word of a list.
  template <class T>
  T choice(std::string_view key, Words<T> words, std::optional<T> fallback = std::nullopt) {
    const Json* value = find(key);
    if (!value && fallback) return *fallback;
    const std::string given = text(key);
    std::string known;
    for (const auto& [word, meaning] : words) {
      if (word == given) return meaning;
      known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", word);
    }
    fail_at(pointer_of(key), "\"{}\": use one of {}", shown(given), known);
  }

  /// Throws naming the first key that nobody took, and those that were asked for.
  void finish() const;

 private:
  const Json& object_;
  std::string pointer_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace hstujit
