// Compiles ahead of the bench: a bounded number of threads, results as futures.
#pragma once

#include "jit/compiled_kernel.hpp"
#include "specialise/source.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace hstujit {

using KernelPtr = std::shared_ptr<const CompiledKernel>;
/// Source -> kernel, e.g. Jit::obtain; called from several threads; throws Error.
using Compile = std::function<KernelPtr(const Source&)>;

/// All cores, at most 16: beyond that, NVRTC's memory costs more than its speed gains.
int default_compile_threads();

class CompilePool {
 public:
  /// With fewer threads where the system has no more, down to none: submit() compiles then.
  CompilePool(int threads, Compile compile);
  /// Drops what has not begun and waits for what has.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// The kernel, or what compiling threw; std::future_error when the pool ended first.
  std::future<KernelPtr> submit(Source source);
  /// Forgets what has not begun; its futures throw.
  void drop_waiting();
  /// How many kernels are compiled at a time.
  int threads() const { return std::max(static_cast<int>(workers_.size()), 1); }

 private:
  struct Task {
    Source source;
    std::promise<KernelPtr> promise;
  };
  void work();
  void run(Task& task);

  Compile compile_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace hstujit
