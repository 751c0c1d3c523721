#include "launch/loaded_kernels.hpp"

namespace hstujit {

ResidentKernel LoadedKernels::find(const Digest& key, int smem_bytes) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find({key, smem_bytes});
  return found == kernels_.end() ? ResidentKernel{} : found->second;
}

ResidentKernel LoadedKernels::keep(const Digest& key, int smem_bytes, const ResidentKernel& kernel) {
  const std::lock_guard lock(mutex_);
  return kernels_.try_emplace({key, smem_bytes}, kernel).first->second;
}

}  // namespace hstujit
