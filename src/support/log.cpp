#include "support/log.hpp"

#include "support/error.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace hstujit {
namespace {

std::unique_ptr<spdlog::logger> make_logger() {
  auto logger = std::make_unique<spdlog::logger>("hstujit", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("[%Y-%m-%d %H:%M:%S.%e] hstujit %l: %v");
  logger->set_level(spdlog::level::off);
  return logger;
}

}  // namespace

spdlog::logger& log() {
  // Never destroyed: threads of the host may still be inside the library while the process ends.
  static spdlog::logger& logger = *make_logger().release();
  return logger;
}

void set_log_level(std::string_view level) {
  struct Name {
    std::string_view word;
    spdlog::level::level_enum level;
  };
  static constexpr Name kNames[] = {{"", spdlog::level::off},       {"off", spdlog::level::off},
                                    {"error", spdlog::level::err},  {"warn", spdlog::level::warn},
                                    {"info", spdlog::level::info},  {"debug", spdlog::level::debug},
                                    {"trace", spdlog::level::trace}};
  for (const Name& name : kNames)
    if (name.word == level) return log().set_level(name.level);
  fail(HSTU_ERROR_INVALID_ARGUMENT, "HSTUJIT_LOG = {}: the levels are off, error, warn, info, debug and trace", level);
}

}  // namespace hstujit
