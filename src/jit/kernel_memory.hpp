// Kernels of this process, and the promise that each is obtained once however many threads ask at the same time.
#pragma once

#include "jit/compiled_kernel.hpp"
#include "support/hash.hpp"

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>

namespace hstujit {

class KernelMemory {
 public:
  using Kernel = std::shared_ptr<const CompiledKernel>;

  /// The kernel, or null.
  Kernel find(const Digest& key);

  /// The kernel; `make` is called by one thread per key, the others wait for its result. When it throws, all who
  /// waited get the exception and the next caller tries again. *known: whether this call did not run `make`.
  template <class Make>
  Kernel obtain(const Digest& key, const Make& make, bool* known) {
    std::promise<Kernel> promise;
    std::shared_future<Kernel> others;
    if (Kernel kernel = begin(key, promise, others)) return *known = true, kernel;
    if (others.valid()) return *known = true, others.get();
    *known = false;
    try {
      Kernel kernel = make();
      keep(key, kernel);
      promise.set_value(kernel);
      return kernel;
    } catch (...) {
      forget_attempt(key);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  /// Keeps a kernel. Past kMostBytes, those that nobody else holds are dropped: a long tuning run must not keep all
  /// its losers.
  void keep(const Digest& key, const Kernel& kernel);
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

 private:
  Kernel begin(const Digest& key, std::promise<Kernel>& promise, std::shared_future<Kernel>& others);
  void forget_attempt(const Digest& key);
  void trim();

  std::mutex mutex_;
  std::map<Digest, Kernel> kernels_;
  std::map<Digest, std::shared_future<Kernel>> attempts_;
  int64_t bytes_ = 0;
};

}  // namespace hstujit
