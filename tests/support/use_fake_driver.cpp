#include "support/use_fake_driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace hstujit::test {
namespace {

const fake_driver_controls& open_controls() {
  setenv("HSTUJIT_LIBCUDA", HSTUJIT_FAKE_DRIVER, 1);
  void* library = dlopen(HSTUJIT_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(std::string("cannot open the fake driver: ") + dlerror());
  const auto controls = reinterpret_cast<decltype(&fake_driver)>(dlsym(library, "fake_driver"));
  return *controls();
}

}  // namespace

const fake_driver_controls& use_fake_driver() {
  static const fake_driver_controls& controls = open_controls();
  controls.reset();
  return controls;
}

}  // namespace hstujit::test
