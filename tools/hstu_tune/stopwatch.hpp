// Times work on a GPU with CUDA events.
#pragma once

#include "cuda/driver.hpp"
#include "records/record.hpp"
#include "tuner/device_sensors.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace hstujit::tool {

using GpuWork = std::function<void(CUstream)>;

class Stopwatch {
 public:
  /// `context` stays current in the constructing thread while the object lives.
  Stopwatch(const Driver& driver, CUcontext context);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  CUstream stream() const { return stream_; }
  void synchronise() const;

  /// Cold caches: between runs 256 MB are written, outside the events. 10 runs to warm up, then 30 that count.
  Timing cold(const GpuWork& work);
  /// The same for several, by turns, so that all meet the same clocks.
  std::vector<Timing> cold(const std::vector<GpuWork>& works);
  /// SM clock in MHz during the last cold(), read while the device was at work; 0 unknown.
  int mhz() const { return mhz_; }
  /// Runs one behind another, as in traffic; caches hold what the previous run left.
  Timing warm(const GpuWork& work, int warmups, int samples);
  /// Each after a rest of 50 ms, as a request meets a server that has time: the device is at its full clock.
  Timing rested(const GpuWork& work, int samples);
  /// Seconds of each step of a sequence, medians over runs; an event stands between neighbours.
  std::vector<double> steps(const std::vector<GpuWork>& sequence, int warmups, int samples);

 private:
  CUevent event(size_t index);
  void record(size_t index);
  double seconds_between(size_t first, size_t second) const;
  void evict();

  const Driver& driver_;
  CUstream stream_ = nullptr;
  CUdeviceptr scratch_ = 0;  ///< allocated when first needed
  std::vector<CUevent> events_;
  std::optional<DeviceSensors> sensors_;  ///< looked for when first needed
  int mhz_ = 0;
};

}  // namespace hstujit::tool
