// The kernels of a context that the driver has loaded: each once, however many problems run it.
#pragma once

#include "launch/module.hpp"
#include "support/hash.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace hstujit {

/// A kernel that can be launched at once.
struct ResidentKernel {
  std::shared_ptr<const CompiledKernel> compiled;
  std::shared_ptr<const LoadedKernel> loaded;
  explicit operator bool() const { return loaded != nullptr; }
};

/// Any thread may call.
class LoadedKernels {
 public:
  /// The kernel under this key (KernelKey::unit) with room for so much dynamic shared memory, or an empty one.
  ResidentKernel find(const Digest& key, int smem_bytes) const;
  /// Keeps the kernel; of two under one key the first stays and is returned.
  ResidentKernel keep(const Digest& key, int smem_bytes, const ResidentKernel& kernel);

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<Digest, int>, ResidentKernel> kernels_;
};

}  // namespace hstujit
