// Collects the library's log while it lives.
#pragma once

#include "support/log.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace hstujit::test {

class CapturedLog {
 public:
  explicit CapturedLog(spdlog::level::level_enum level = spdlog::level::warn)
      : before_(log().sinks()), level_(log().level()) {
    log().sinks() = {std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)};
    log().set_pattern("%l %v");
    log().set_level(level);
  }
  ~CapturedLog() {
    log().sinks() = before_;
    log().set_level(level_);
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::string str() const { return text_.str(); }
  int lines() const {
    int count = 0;
    for (const char c : text_.str()) count += c == '\n';
    return count;
  }

 private:
  std::ostringstream text_;
  std::vector<spdlog::sink_ptr> before_;
  spdlog::level::level_enum level_;
};

}  // namespace hstujit::test
