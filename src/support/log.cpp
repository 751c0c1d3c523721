#include "support/log.hpp"

#include "support/error.hpp"
#include "support/forks.hpp"
#include "support/logger.hpp"
#include "support/shown.hpp"
#include "support/write_signals.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <exception>
#include <memory>

namespace hstujit {
namespace {

std::unique_ptr<spdlog::logger> make_logger() {
  auto logger = std::make_unique<spdlog::logger>("hstujit", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("[%Y-%m-%d %H:%M:%S.%e] hstujit %l: %v");
  logger->set_level(spdlog::level::off);
  return logger;
}

spdlog::level::level_enum spdlogs(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return kLevels[static_cast<size_t>(level)];
}

/// Names and texts of others stand in messages: none of them moves a cursor or begins a line as the log does.
std::string in_lines_of_its_own(std::string_view message) {
  std::string out = escaped(message, Lines::many);
  for (size_t at = out.find('\n'); at != std::string::npos; at = out.find('\n', at + 1)) out.insert(at + 1, "    ");
  return out;
}

}  // namespace

spdlog::logger& logger() {
  // Never destroyed: threads of the host may still be inside the library while the process ends.
  static spdlog::logger& logger = *make_logger().release();
  return logger;
}

Log& log() noexcept {
  static Log log;
  return log;
}

bool Log::has(LogLevel level) const noexcept {
  try {
    return logger().should_log(spdlogs(level));
  } catch (const std::exception&) { return false; }  // no memory to make it
}

void Log::flush() noexcept {
  const HeldWriteSignals held;
  tell_log([] { logger().flush(); });
}

void Log::write(LogLevel level, fmt::string_view text, fmt::format_args args) noexcept {
  if (!has(level)) return;
  const HeldWriteSignals held;  // standard error may be a pipe that nobody reads any more
  const NoForkMeanwhile whole;
  // What cannot be told does not fail the call that it is about.
  tell_log([&] { logger().log(spdlogs(level), in_lines_of_its_own(fmt::vformat(text, args))); });
}

void set_log_level(LogLevel level) { logger().set_level(spdlogs(level)); }

void set_log_level(std::string_view level) {
  struct Name {
    std::string_view word;
    LogLevel level;
  };
  static constexpr Name kNames[] = {{"", LogLevel::off},       {"off", LogLevel::off},   {"error", LogLevel::error},
                                    {"warn", LogLevel::warn},  {"info", LogLevel::info}, {"debug", LogLevel::debug},
                                    {"trace", LogLevel::trace}};
  for (const Name& name : kNames)
    if (name.word == level) return set_log_level(name.level);
  fail(HSTU_ERROR_INVALID_ARGUMENT, "HSTUJIT_LOG = {}: the levels are off, error, warn, info, debug and trace", level);
}

}  // namespace hstujit
