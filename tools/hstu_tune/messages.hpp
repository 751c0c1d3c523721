// What the tool says beside its results, and whether all that it was asked for came about.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace hstujit::tool {

/// A line to standard error. Nothing comes of it when that cannot be written: who works on does not end for it.
void say(std::string_view text);

template <class... Args>
void complain(fmt::format_string<Args...> text, Args&&... args) {
  say(fmt::format(text, std::forward<Args>(args)...));
}

/// Gives what is written to the standard streams an error instead of a signal or, where they are closed, of the next
/// file that is opened. To be called first.
void prepare_standard_streams();

/// The exit code of a command that ended with `code`: 1 in the place of 0 when something could not be printed, or kept
/// in the store, and then says so.
int final_code(int code);

}  // namespace hstujit::tool
