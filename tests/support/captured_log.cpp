#include "support/captured_log.hpp"

#include "support/logger.hpp"

#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace hstujit::test {

struct CapturedLog::State {
  std::ostringstream text;
  std::vector<spdlog::sink_ptr> sinks_before = logger().sinks();
  spdlog::level::level_enum level_before = logger().level();
};

CapturedLog::CapturedLog(LogLevel level) : state_(std::make_unique<State>()) {
  logger().sinks() = {std::make_shared<spdlog::sinks::ostream_sink_mt>(state_->text)};
  logger().set_pattern("%l %v");
  set_log_level(level);
}

CapturedLog::~CapturedLog() {
  logger().sinks() = state_->sinks_before;
  logger().set_level(state_->level_before);
}

std::string CapturedLog::str() const { return state_->text.str(); }

int CapturedLog::lines() const {
  const std::string text = str();
  return static_cast<int>(std::ranges::count(text, '\n'));
}

}  // namespace hstujit::test
