// How an operator fails: an exception whose text names operator, argument and status. PyTorch makes a ValueError of
// std::invalid_argument, a MemoryError of std::bad_alloc and a RuntimeError of the rest; hstujit.torch makes
// hstujit.Error of all of them, by the text.
#pragma once

#include <hstujit/hstujit.h>

#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace hstujit_torch {

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Throws "hstujit.<op>: <parts> [HSTU_ERROR_...]".
template <class... Parts>
[[noreturn]] void refuse(const char* op, hstu_status status, const Parts&... parts) {
  std::ostringstream text;
  text << "hstujit." << op << ": ";
  (text << ... << parts);
  text << " [" << hstu_status_name(status) << "]";
  switch (status) {
    case HSTU_ERROR_INVALID_ARGUMENT:
    case HSTU_ERROR_SHAPE_MISMATCH:
    case HSTU_ERROR_UNSUPPORTED_DTYPE:
      throw std::invalid_argument(std::move(text).str());
    case HSTU_ERROR_OUT_OF_MEMORY:
      throw OutOfMemory(std::move(text).str());
    default:
      throw std::runtime_error(std::move(text).str());
  }
}

}  // namespace hstujit_torch
