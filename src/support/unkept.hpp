// What this process was asked to keep in a store and could not: no call fails for it, but whoever was started to fill
// the store must say so in the end.
#pragma once

#include <cstdint>
#include <string>

namespace hstujit {

struct Unkept {
  int64_t kernels = 0, records = 0;
  std::string reason;  ///< of the first
};

/// Thread-safe, as both below. `reason` names the file.
void count_unkept_kernels(int64_t count, const std::string& reason);
void count_unkept_records(int64_t count, const std::string& reason);
/// Since the process began, over all contexts.
Unkept unkept();

}  // namespace hstujit
