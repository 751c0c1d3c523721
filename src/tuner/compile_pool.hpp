// Compiles ahead of the bench: a bounded number of threads, results in the order in which they are finished.
#pragma once

#include "tuner/cores.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hstujit {

/// Source -> kernel, e.g. Jit::obtain; called from several threads; throws Error.
using Compile = std::function<KernelPtr(const Source&)>;
/// The same without compiling, e.g. Jit::recall; null when there is none.
using Recall = std::function<KernelPtr(const Source&)>;

/// All cores, at most 16: beyond that, NVRTC's memory costs more than its speed gains.
int default_compile_threads();

class CompilePool : public Cores {
 public:
  /// With fewer threads where the system has no more, down to none: order() compiles then. Without recall nothing is
  /// found.
  CompilePool(int threads, Compile compile, Recall recall = {});
  /// Drops what has not begun and waits for what has.
  ~CompilePool() override;
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  size_t count() const override { return std::max(workers_.size(), size_t{1}); }
  double now() const override { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  std::optional<Compiled> find(const Order& order) override;
  void order(Order order) override;
  std::optional<Compiled> take(double until) override;
  Compiled make(const Order& order) override;
  std::vector<uint64_t> drop(const std::function<bool(uint64_t ticket)>& which) override;
  double busy() const override;

 private:
  using Clock = std::chrono::steady_clock;
  void work();
  void count_running(int change);

  const Clock::time_point start_ = Clock::now();
  Compile compile_;
  Recall recall_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::deque<Order> waiting_;
  std::vector<Compiled> done_;  ///< with room for all that were ordered: threads that compile need no memory for it
  size_t running_ = 0;
  double busy_ = 0, counted_at_ = 0;  ///< seconds that cores had worked by then
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace hstujit
