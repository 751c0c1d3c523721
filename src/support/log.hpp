// The library's log: one logger to stderr, off unless HSTUJIT_LOG names a level. spdlog writes it, seen by log.cpp
// alone, since it has each file that logs compile all of fmt's formatting.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string_view>

namespace hstujit {

enum class LogLevel { trace, debug, info, warn, error, off };

/// Thread-safe; lives as long as the process. Off until set_log_level() says otherwise.
class Log {
 public:
  bool has(LogLevel level) const noexcept;
  void flush() noexcept;

  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::debug, text, fmt::make_format_args(args...));
  }
  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::info, text, fmt::make_format_args(args...));
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::warn, text, fmt::make_format_args(args...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) {
    write(LogLevel::error, text, fmt::make_format_args(args...));
  }

 private:
  void write(LogLevel level, fmt::string_view text, fmt::format_args args) noexcept;
};

Log& log() noexcept;

/// Runs what tells the log something whose making may throw, where nothing may: memory that runs out here is no
/// failure of what is told.
template <class Tell>
void tell_log(Tell&& tell) noexcept {
  try {
    tell();
  } catch (const std::exception&) {}
}

/// "trace", "debug", "info", "warn", "error"; "" or "off" is silence. Throws Error{INVALID_ARGUMENT} for other words.
void set_log_level(std::string_view level);
void set_log_level(LogLevel level);

}  // namespace hstujit
