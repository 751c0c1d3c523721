// The doctor's rooms; each says what it found.
#pragma once

#include "hstu_tune/command.hpp"
#include "hstu_tune/findings.hpp"

namespace hstujit::tool {

/// All devices that the driver has; throws Error where there is no driver.
std::vector<DeviceFacts> devices();

/// doctor_compiler.cpp: NVRTC, tried on a kernel of one line, and whether the driver takes what it makes.
void examine_compiler(Findings& findings, const Environment& environment);

/// doctor_store.cpp: the writable store, and the folder or pack underneath it.
void examine_store(Findings& findings, const ContextOptions& options);
void examine_system_store(Findings& findings, const std::string& folder);

}  // namespace hstujit::tool
