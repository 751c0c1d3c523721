// The library's log: one logger to stderr, off unless HSTUJIT_LOG names a level.
#pragma once

#include <spdlog/logger.h>

#include <string_view>

namespace hstujit {

/// Thread-safe; lives as long as the process. Off until set_log_level() says otherwise.
spdlog::logger& log();

/// "trace", "debug", "info", "warn", "error"; "" or "off" is silence. Throws Error{INVALID_ARGUMENT} for other words.
void set_log_level(std::string_view level);

}  // namespace hstujit
