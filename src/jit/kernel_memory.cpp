#include "jit/kernel_memory.hpp"

namespace hstujit {
namespace {

int64_t bytes_of(const CompiledKernel& kernel) {
  return static_cast<int64_t>(sizeof kernel + kernel.binary.size() + kernel.log.size());
}

}  // namespace

KernelMemory::Kernel KernelMemory::find(const Digest& key) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : found->second;
}

// The kernel if it is known; else the attempt of another thread in `others`; else `promise` is this key's attempt.
KernelMemory::Kernel KernelMemory::begin(const Digest& key, std::promise<Kernel>& promise,
                                         std::shared_future<Kernel>& others) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  if (const auto found = attempts_.find(key); found != attempts_.end()) {
    others = found->second;
  } else {
    attempts_.emplace(key, promise.get_future().share());
  }
  return nullptr;
}

void KernelMemory::keep(const Digest& key, const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  attempts_.erase(key);
  if (kernels_.emplace(key, kernel).second) bytes_ += bytes_of(*kernel);
  if (bytes_ > kMostBytes) trim();
}

void KernelMemory::forget_attempt(const Digest& key) {
  const std::lock_guard lock(mutex_);
  attempts_.erase(key);
}

void KernelMemory::trim() {
  for (auto it = kernels_.begin(); it != kernels_.end();) {
    const bool only_ours = it->second.use_count() == 1;
    if (only_ours) bytes_ -= bytes_of(*it->second);
    it = only_ours ? kernels_.erase(it) : std::next(it);
  }
}

}  // namespace hstujit
