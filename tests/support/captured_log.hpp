// Collects the library's log while it lives.
#pragma once

#include "support/log.hpp"

#include <memory>
#include <string>

namespace hstujit::test {

class CapturedLog {
 public:
  explicit CapturedLog(LogLevel level = LogLevel::warn);
  ~CapturedLog();

  std::string str() const;
  int lines() const;

 private:
  struct State;  // spdlog's, which takes long to compile
  std::unique_ptr<State> state_;
};

}  // namespace hstujit::test
