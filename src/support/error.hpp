// The one exception of the library. It travels inside; only src/capi catches it, in one guard.
#pragma once

#include <hstujit/hstujit.h>

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

namespace hstujit {

class Error : public std::exception {
 public:
  Error(hstu_status status, std::string message) : status_(status), message_(std::move(message)) {}

  hstu_status status() const { return status_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  hstu_status status_;
  std::string message_;
};

/// A good message has the value, the rule and the way out: "head_dim_qk = 300: attention covers 1 to 256".
template <class... Args>
[[noreturn]] void fail(hstu_status status, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(status, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace hstujit
