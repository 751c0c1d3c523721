#include "tuner/device_sensors.hpp"

#include "support/error.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

constexpr int kSuccess = 0;
constexpr unsigned kSmClock = 1;  // NVML_CLOCK_SM

/// nvmlClocksEventReason*, as far as they tell of a limit.
struct Limit {
  unsigned long long reason;
  const char* name;
};
constexpr Limit kLimits[] = {{0x04, "the power limit"},
                             {0x08, "a slowdown in hardware"},
                             {0x20, "the temperature"},
                             {0x40, "the temperature, in hardware"},
                             {0x80, "the power supply"}};

std::optional<Library> open_nvml() {
  const std::string names[] = {"libnvidia-ml.so.1"};
  try {
    return Library({"the NVIDIA management library", names, HSTU_ERROR_DEVICE, ""});
  } catch (const Error&) { return std::nullopt; }
}

/// "0000:65:00.0" of the current context's device; "" when it cannot be told.
std::string pci_address(const Driver& driver) {
  CUresult (*current_device)(CUdevice*) = nullptr;
  if (driver.library) driver.library->find_into(current_device, "cuCtxGetDevice");
  CUdevice device = 0;
  int domain = 0, bus = 0, slot = 0;
  if (!current_device || current_device(&device) != CUDA_SUCCESS ||
      driver.cuDeviceGetAttribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device) != CUDA_SUCCESS ||
      driver.cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device) != CUDA_SUCCESS ||
      driver.cuDeviceGetAttribute(&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, device) != CUDA_SUCCESS)
    return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.0", domain, bus, slot);
}

}  // namespace

DeviceSensors::DeviceSensors(const Driver& driver) : library_(open_nvml()) {
  if (!library_) return;
  int (*init)() = nullptr;
  library_->find_into(init, "nvmlInit_v2");
  library_->find_into(shutdown_, "nvmlShutdown");
  library_->find_into(clock_info_, "nvmlDeviceGetClockInfo");
  library_->find_into(clock_reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
  library_->find_into(energy_, "nvmlDeviceGetTotalEnergyConsumption");
  if (!init || !shutdown_ || !clock_info_ || init() != kSuccess) {
    shutdown_ = nullptr;
    return;
  }
  if (!find_device(driver)) device_ = nullptr;
}

DeviceSensors::~DeviceSensors() {
  if (shutdown_) shutdown_();
}

bool DeviceSensors::find_device(const Driver& driver) {
  int (*by_address)(const char*, Device*) = nullptr;
  library_->find_into(by_address, "nvmlDeviceGetHandleByPciBusId_v2");
  const std::string address = pci_address(driver);
  return by_address && !address.empty() && by_address(address.c_str(), &device_) == kSuccess;
}

int DeviceSensors::mhz() const {
  unsigned mhz = 0;
  return device_ && clock_info_(device_, kSmClock, &mhz) == kSuccess ? static_cast<int>(mhz) : 0;
}

std::string DeviceSensors::held_back_by() const {
  unsigned long long reasons = 0;
  std::string names;
  if (!device_ || !clock_reasons_ || clock_reasons_(device_, &reasons) != kSuccess) return names;
  for (const Limit& limit : kLimits)
    if (reasons & limit.reason) names += (names.empty() ? "" : " and ") + std::string(limit.name);
  return names;
}

std::optional<double> DeviceSensors::joules() const {
  unsigned long long millijoules = 0;
  if (!device_ || !energy_ || energy_(device_, &millijoules) != kSuccess) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace hstujit
