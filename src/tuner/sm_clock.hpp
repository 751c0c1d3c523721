// The SM clock as the driver's management library reports it: evidence beside a time. Everything about it is optional.
#pragma once

#include "cuda/driver.hpp"
#include "cuda/library.hpp"

#include <optional>

namespace hstujit {

class SmClock {
 public:
  /// Looks for the device of the current context. Never fails: without the library or the device the clock is unknown.
  explicit SmClock(const Driver& driver);
  ~SmClock();
  SmClock(const SmClock&) = delete;
  SmClock& operator=(const SmClock&) = delete;

  /// Now, in MHz; 0 unknown. Tells something only while the device is busy.
  int mhz() const;

 private:
  using Device = void*;
  bool find_device(const Driver& driver);

  std::optional<Library> library_;
  int (*shutdown_)() = nullptr;
  int (*clock_info_)(Device, unsigned, unsigned*) = nullptr;
  Device device_ = nullptr;
};

}  // namespace hstujit
