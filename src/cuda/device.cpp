#include "cuda/device.hpp"

#include "support/error.hpp"

#include <charconv>

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

std::optional<GpuName> parse_gpu_name(std::string_view device) {
  GpuName name;
  if (const size_t at = device.find('@'); at != device.npos) {
    name.generation = device.substr(at + 1);
    if (!facts_of_target(name.generation)) return std::nullopt;
    device = device.substr(0, at);
  }
  if (device == "cuda") return name;
  if (!device.starts_with("cuda:")) return std::nullopt;
  const std::string_view digits = device.substr(5);
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), name.ordinal);
  if (status != std::errc() || end != digits.data() + digits.size() || name.ordinal < 0) return std::nullopt;
  return name;
}

DeviceFacts limited_to(const DeviceFacts& facts, std::string_view generation) {
  const int capability = facts_of_target(generation).value().compute_capability;
  if (capability > facts.compute_capability)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "device: {} has compute capability {}.{}, kernels of {} do not run on it",
         facts.name, facts.compute_capability / 10, facts.compute_capability % 10, generation);
  if (capability == facts.compute_capability) return facts;
  DeviceFacts limited = facts;
  limited.name += fmt::format(" as {}", generation);
  limited.compute_capability = capability;
  return limited;
}

}  // namespace hstujit
