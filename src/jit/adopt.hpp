// One store takes over the compiled kernels of another.
#pragma once

#include <cstdint>
#include <string>

namespace hstujit {

/// Gives the store at `to` every entry of the store at `from` that it lacks, as another name of the same file where the
/// disk allows, else as a copy; how many. Entries are not looked into: whoever loads one checks it. Errors are ignored,
/// as what is not taken over is compiled again.
int64_t adopt_kernels(const std::string& from, const std::string& to);

}  // namespace hstujit
