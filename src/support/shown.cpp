#include "support/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace hstujit {
namespace {

bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

/// How many bytes the character at the front has; 0 where the bytes are no UTF-8. *code: which one it is.
size_t character(std::string_view text, uint32_t* code) {
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t size = byte(0) < 0x80 ? 1 : byte(0) >> 5 == 6 ? 2 : byte(0) >> 4 == 14 ? 3 : byte(0) >> 3 == 30 ? 4 : 0;
  if (size == 0 || size > text.size()) return 0;
  *code = size == 1 ? byte(0) : byte(0) & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    *code = *code << 6 | (byte(i) & 0x3f);
  }
  return *code >= kLeast[size] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff) ? size : 0;
}

/// Of at most so many characters; whether all of the text is there.
bool append_escaped(std::string& out, std::string_view text, Lines lines, size_t most) {
  for (; !text.empty() && most > 0; --most) {
    uint32_t code = 0;
    const size_t size = character(text, &code);
    const std::string_view bytes = text.substr(0, std::max<size_t>(size, 1));
    const bool kept = lines == Lines::many && (code == '\n' || code == '\t');
    if (size > 0 && (kept || !is_control(code)))
      out += bytes;
    else
      for (const char c : bytes) fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint8_t>(c));
    text.remove_prefix(bytes.size());
  }
  return text.empty();
}

}  // namespace

std::string escaped(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text, lines, text.size());
  return out;
}

std::string shown(std::string_view text, size_t most) {
  std::string out;
  if (!append_escaped(out, text, Lines::one, most)) out += "...";
  return out;
}

}  // namespace hstujit
