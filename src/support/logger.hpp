// What is behind the log, for tests that read what it says.
#pragma once

#include <spdlog/logger.h>

namespace hstujit {

spdlog::logger& logger();

}  // namespace hstujit
