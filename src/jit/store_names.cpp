#include "jit/store_names.hpp"

#include "support/files.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit::store_names {
namespace {

constexpr std::string_view kEntry = ".kernel", kFailure = ".cu", kMemo = ".json";
constexpr size_t kDigits = 32, kCompilerDigits = 16, kRandomDigits = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }
bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, is_hex_digit);
}

/// A digest and the ending.
bool is_digest(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) && is_hex(name.substr(0, name.size() - ending.size()), kDigits);
}

/// Whether `text` is two parts that these predicates hold of, with a '-' between.
template <class First, class Second>
bool is_pair(std::string_view text, size_t dash, First is_first, Second is_second) {
  return dash < text.size() && text[dash] == '-' && is_first(text.substr(0, dash)) && is_second(text.substr(dash + 1));
}

}  // namespace

std::string shard(const KernelKey& key) { return key.unit.hex().substr(0, 2); }

std::string entry(const KernelKey& key, std::string_view compiler) {
  return fmt::format("{}-{}{}", key.unit.hex(), key.digest_with(compiler).hex().substr(0, kCompilerDigits), kEntry);
}

std::string failure(const KernelKey& key) { return fmt::format("{}{}", key.unit.hex(), kFailure); }

std::string set_aside(std::string_view entry, int64_t now_ns) { return fmt::format("{}-{}", entry, now_ns); }

bool is_shard(std::string_view name) { return is_hex(name, 2); }

bool is_entry(std::string_view name) {
  if (!name.ends_with(kEntry)) return false;
  name.remove_suffix(kEntry.size());
  return is_pair(
      name, kDigits, [](auto unit) { return is_hex(unit, kDigits); },
      [](auto compiler) { return is_hex(compiler, kCompilerDigits); });
}

bool is_entry_of(std::string_view name, const KernelKey& key) {
  return is_entry(name) && name.starts_with(key.unit.hex());
}

bool is_failure(std::string_view name) { return is_digest(name, kFailure); }

bool is_set_aside(std::string_view name) { return is_pair(name, name.rfind('-'), is_entry, is_number); }

bool is_memo(std::string_view name) { return is_digest(name, kMemo); }

bool is_in_root(std::string_view name) { return name == "last-sweep" || name == "winners.cache"; }

std::string_view published_name(std::string_view temporary) {
  const size_t mark = temporary.rfind(kTemporaryMark);
  if (mark == std::string_view::npos) return "";
  const std::string_view rest = temporary.substr(mark + kTemporaryMark.size());
  const bool ours = is_pair(rest, rest.find('-'), is_number, [](auto part) { return is_hex(part, kRandomDigits); });
  return ours ? temporary.substr(0, mark) : "";
}

}  // namespace hstujit::store_names
