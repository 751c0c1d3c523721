// Text of others in messages, logs and on terminals: escaped, so that it moves no cursor and writes no lines of its
// own, and short.
#pragma once

#include <string>
#include <string_view>

namespace hstujit {

/// Which control characters a text may keep.
enum class Lines {
  one,   ///< none
  many,  ///< ends of lines and tabs: a compiler's log, say
};

/// Control characters, of Unicode's too (U+0080 to U+009F), and bytes that are no UTF-8 as "\x1b"; all else as it is.
std::string escaped(std::string_view text, Lines lines = Lines::one);

/// The first characters of a text, escaped, and "..." where there are more.
constexpr size_t kMostShown = 80;
std::string shown(std::string_view text, size_t most = kMostShown);

}  // namespace hstujit
