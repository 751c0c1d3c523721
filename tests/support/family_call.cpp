#include "support/family_call.hpp"

#include "specialise/source.hpp"
#include "support/env.hpp"

#include <cstdlib>
#include <map>
#include <mutex>

namespace hstujit::test {

std::string store_of_tests() {
  const char* const store = std::getenv("HSTUJIT_TEST_STORE");
  return store ? store : "";
}

Jit& jit_of_tests() {
  const Environment environment = Environment::read();
  static Jit jit({.store_path = store_of_tests(),
                  .system_store_path = "",
                  .kernels_path = environment.kernels,
                  .nvrtc_path = environment.libnvrtc});
  return jit;
}

std::vector<const Family*> other_families(const Problem& problem, const DeviceFacts& device) {
  std::vector<const Family*> families = families_for(problem, device);
  if (!families.empty()) families.erase(families.begin());
  return families;
}

std::shared_ptr<const CompiledKernel> compiled(const Family& family, const Problem& problem, const Config& config,
                                               const DeviceFacts& device) {
  return jit_of_tests().obtain(specialise(family, problem, config, device));
}

std::shared_ptr<const LoadedKernel> loaded(const std::shared_ptr<const CompiledKernel>& kernel, int smem_bytes) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::shared_ptr<const CompiledKernel>, std::shared_ptr<const LoadedKernel>>;
  const std::lock_guard lock(mutex);
  auto& found = all[kernel];
  if (!found) found = std::make_shared<LoadedKernel>(*gpu()->driver, *kernel, smem_bytes);
  return found;
}

void launch_and_wait(const LoadedKernel& kernel, const Launch& launch) {
  const Driver& driver = *gpu()->driver;
  driver.check(kernel.launch(launch, nullptr), "launching a kernel");
  driver.check(driver.cuStreamSynchronize(nullptr), "waiting for a kernel");
}

}  // namespace hstujit::test
