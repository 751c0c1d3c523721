#include "launch/device_context.hpp"

#include <fmt/format.h>

namespace hstujit {

PrimaryContext::PrimaryContext(const Driver& driver, int ordinal) : driver_(driver) {
  driver.check(driver.cuDeviceGet(&device_, ordinal), fmt::format("opening device cuda:{}", ordinal).c_str());
  driver.check(driver.cuDevicePrimaryCtxRetain(&context_, device_), "retaining the device's primary context");
}

PrimaryContext::~PrimaryContext() { driver_.cuDevicePrimaryCtxRelease(device_); }

CurrentContext::CurrentContext(const Driver& driver, CUcontext context) : driver_(driver) {
  driver.check(driver.cuCtxPushCurrent(context), "making the device's context current");
}

CurrentContext::~CurrentContext() {
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent(&popped);
}

HomeContext::HomeContext(const Driver& driver) : driver_(driver) {
  driver.check(driver.cuCtxGetCurrent(&context_), "asking for the current context");
}

}  // namespace hstujit
