// What an exception means to a host: the one place that turns any of them into a status and a text.
#pragma once

#include "support/error.hpp"

#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>

namespace hstujit {

inline constexpr const char* kNoMemory = "host memory ran out";

/// Inside a catch block: gives tell(status, text) what the exception says. text ends with the handler; it is
/// kNoMemory itself, which never ends, where memory ran out. Allocates nothing.
template <class Tell>
decltype(auto) explain_exception(Tell&& tell) {
  try {
    throw;
  } catch (const Error& error) { return tell(error.status(), error.what()); } catch (const std::bad_alloc&) {
    return tell(HSTU_ERROR_OUT_OF_MEMORY, kNoMemory);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::not_enough_memory) return tell(HSTU_ERROR_OUT_OF_MEMORY, kNoMemory);
    return tell(HSTU_ERROR_INTERNAL, error.what());
  } catch (const std::exception& error) { return tell(HSTU_ERROR_INTERNAL, error.what()); } catch (...) {
    return tell(HSTU_ERROR_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace hstujit
