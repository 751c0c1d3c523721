// The parsers of bytes that we did not write, each with sound examples to begin from. A parser takes bytes or throws
// Error; nothing else may happen. The tests damage the examples by seed, libFuzzer follows coverage.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit::fuzz {

struct Target {
  const char* name;
  std::vector<std::string> (*examples)();
  /// Whether the bytes were taken; throws Error.
  bool (*parse)(const std::string& bytes);
  /// Makes checksums right again, so that damage reaches what lies behind them; null where there are none.
  void (*seal)(std::string& bytes);
};

std::span<const Target> targets();
/// Null for another name.
const Target* target_named(std::string_view name);

/// Runs the parser as a caller would: false when it threw an Error, which must have a text.
bool survives(const Target& target, const std::string& bytes);

}  // namespace hstujit::fuzz
