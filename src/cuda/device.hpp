// What a kernel family and the tuner need to know of a device; plain facts, so that they also exist for a named
// architecture on a machine with no GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hstujit {

struct DeviceFacts {
  std::string name;            ///< "NVIDIA H200"; for a named architecture the typical device's name
  int compute_capability = 0;  ///< 80, 86, 89, 90, ...
  std::string target;  ///< what NVRTC compiles for: "sm_80", "sm_90a", or "compute_90" where only PTX is possible
  int sm_count = 0;
  int smem_per_block = 0;  ///< bytes of dynamic shared memory a block may opt in to
  int smem_per_sm = 0;     ///< bytes
  int registers_per_sm = 65536;
  int threads_per_sm = 0;
  int64_t l2_bytes = 0;

  /// Devices of one class share tuned records: name and target.
  std::string device_class() const { return name + " " + target; }
};

/// Facts of "sm_80" (A100), "sm_86" (A10), "sm_89" (L40S), "sm_90a" (H200); nothing for other names.
std::optional<DeviceFacts> facts_of_target(std::string_view target);

/// A GPU as hosts name it: "cuda" or "cuda:N", and behind either "@sm_80", or another target, where only kernels of
/// that generation and older ones are to be used.
struct GpuName {
  int ordinal = 0;
  std::string generation;  ///< the target; "" for all that the device runs
};
/// Nothing for other texts.
std::optional<GpuName> parse_gpu_name(std::string_view device);

/// The device as if the library had no kernels newer than `generation`, a known target. Its tuned records are a class
/// of their own. Throws Error{INVALID_ARGUMENT} where the device is older than that.
DeviceFacts limited_to(const DeviceFacts& facts, std::string_view generation);

}  // namespace hstujit
