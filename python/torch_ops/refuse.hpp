// How an operator fails: an exception whose text names operator, argument and status. PyTorch makes a RuntimeError of
// it in each of its versions; hstujit.torch makes the hstujit.Error that the text says.
#pragma once

#include <hstujit/hstujit.h>

#include <sstream>
#include <stdexcept>

namespace hstujit_torch {

/// Throws "hstujit.<op>: <parts> [HSTU_ERROR_...]".
template <class... Parts>
[[noreturn]] void refuse(const char* op, hstu_status status, const Parts&... parts) {
  std::ostringstream text;
  text << "hstujit." << op << ": ";
  (text << ... << parts);
  text << " [" << hstu_status_name(status) << "]";
  throw std::runtime_error(std::move(text).str());
}

}  // namespace hstujit_torch
