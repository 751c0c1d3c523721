#include "support/family_call.hpp"

#include "jit/jit.hpp"
#include "specialise/source.hpp"

#include <map>
#include <mutex>

namespace hstujit::test {

std::shared_ptr<const LoadedKernel> default_kernel(const Family& family, const Problem& problem) {
  static Jit jit(JitOptions{});
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::shared_ptr<const CompiledKernel>, std::shared_ptr<const LoadedKernel>>;
  const DeviceFacts& device = gpu()->facts;
  const Config config = family.default_config(problem, device);
  const auto compiled = jit.obtain(specialise(family, problem, config, device));
  const std::lock_guard lock(mutex);
  auto& kernel = loaded[compiled];
  if (!kernel)
    kernel = std::make_shared<LoadedKernel>(*gpu()->driver, *compiled, family.resources(problem, config).smem_bytes);
  return kernel;
}

void launch_and_wait(const LoadedKernel& kernel, Launch& launch) {
  const Driver& driver = *gpu()->driver;
  driver.check(kernel.launch(launch, nullptr), "launching a kernel");
  driver.check(driver.cuStreamSynchronize(nullptr), "waiting for a kernel");
}

}  // namespace hstujit::test
