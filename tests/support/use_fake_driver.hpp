// Lets a test program run on the fake driver (fake_driver/fake_driver.h) instead of a GPU.
#pragma once

#include "support/fake_driver/fake_driver.h"

namespace hstujit::test {

/// Points HSTUJIT_LIBCUDA at the fake driver and returns its controls, reset. The process's driver is opened once, so
/// this must come before anything opens it, e.g. in a fixture's SetUp; later calls only reset.
const fake_driver_controls& use_fake_driver();

}  // namespace hstujit::test
