#include "cuda/device.hpp"

namespace hstujit {

std::optional<DeviceFacts> facts_of_target(std::string_view target) {
  constexpr int kKiB = 1024;
  constexpr int64_t kMiB = 1024 * 1024;
  if (target == "sm_80")
    return DeviceFacts{"NVIDIA A100", 80, "sm_80", 108, 163 * kKiB, 164 * kKiB, 65536, 2048, 40 * kMiB};
  if (target == "sm_86")
    return DeviceFacts{"NVIDIA A10", 86, "sm_86", 72, 99 * kKiB, 100 * kKiB, 65536, 1536, 6 * kMiB};
  if (target == "sm_89")
    return DeviceFacts{"NVIDIA L40S", 89, "sm_89", 142, 99 * kKiB, 100 * kKiB, 65536, 1536, 96 * kMiB};
  if (target == "sm_90a")
    return DeviceFacts{"NVIDIA H200", 90, "sm_90a", 132, 227 * kKiB, 228 * kKiB, 65536, 2048, 60 * kMiB};
  return std::nullopt;
}

}  // namespace hstujit
