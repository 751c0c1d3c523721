// What a cubin makes a device do, apart from all else that is in the file.
#pragma once

#include "support/hash.hpp"

#include <optional>
#include <string_view>

namespace hstujit {

/// Of the instructions and constants of a cubin, with the registers that its functions take. Names of files, functions
/// and parameters, and what is there for debuggers, make no difference. Nothing when the bytes are no sound cubin.
std::optional<Digest> machine_code(std::string_view cubin);

}  // namespace hstujit
