// Regular expressions, ECMAScript's: <regex> costs each file that uses it more than all its tests to compile.
#pragma once

#include <string>

namespace hstujit::test {

/// All of the text, and some part of it.
bool matches(const std::string& text, const std::string& pattern);
bool has_match(const std::string& text, const std::string& pattern);

/// The text with every match replaced.
std::string replaced(const std::string& text, const std::string& pattern, const std::string& by);

}  // namespace hstujit::test
