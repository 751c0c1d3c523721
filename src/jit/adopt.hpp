// One store takes over the compiled kernels of another.
#pragma once

#include <cstdint>
#include <string>

namespace hstujit {

struct AdoptedKernels {
  int64_t count = 0;
  int64_t lost = 0;  ///< could not be written
  int error = 0;     ///< why the last of those could not: errno
};

/// Gives the store at `to` every entry of the store at `from` that it lacks, as another name of the same file where the
/// disk allows, else as a copy. Entries are not looked into: whoever loads one checks it. What is no regular file, or
/// has no name of an entry, is left where it is.
AdoptedKernels adopt_kernels(const std::string& from, const std::string& to);

}  // namespace hstujit
