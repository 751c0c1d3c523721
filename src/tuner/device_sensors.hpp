// What the driver's management library tells about a device at work: evidence beside a time. Everything about it is
// optional.
#pragma once

#include "cuda/driver.hpp"
#include "cuda/library.hpp"

#include <optional>
#include <string>

namespace hstujit {

class DeviceSensors {
 public:
  /// Looks for the device of the current context. Never fails: without the library or the device all is unknown.
  explicit DeviceSensors(const Driver& driver);
  ~DeviceSensors();
  DeviceSensors(const DeviceSensors&) = delete;
  DeviceSensors& operator=(const DeviceSensors&) = delete;

  /// The SM clock now, in MHz; 0 unknown. Tells something only while the device is busy.
  int mhz() const;
  /// What holds that clock back now, as "the power limit"; "" nothing, or unknown.
  std::string held_back_by() const;
  /// Taken since the driver was loaded. The counter moves some ten times a second.
  std::optional<double> joules() const;

 private:
  using Device = void*;
  bool find_device(const Driver& driver);

  std::optional<Library> library_;
  int (*shutdown_)() = nullptr;
  int (*clock_info_)(Device, unsigned, unsigned*) = nullptr;
  int (*clock_reasons_)(Device, unsigned long long*) = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
  Device device_ = nullptr;
};

}  // namespace hstujit
