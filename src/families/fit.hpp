// Whether a configuration can run a problem on a device, as far as that is known without compiling.
#pragma once

#include "families/family.hpp"

#include <string_view>

namespace hstujit {

/// Why a block with these needs cannot run on the device, or would spill; empty when it fits.
std::string_view misfit(const Resources& resources, const DeviceFacts& device);

/// Whether every knob has a value that the family lists. Rules and resources are asked of such configurations only:
/// they divide by values, and know no others.
bool listed(const Family& family, const Config& config);

/// Every value is listed, every rule holds, and the resources fit.
bool fits(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device);

/// The same with the rules alone without which the kernel would not work.
bool runs(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device);

}  // namespace hstujit
