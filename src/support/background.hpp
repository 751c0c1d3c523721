// Cost behind the caller's back: a few threads that run jobs in the order of their arrival. They start with the first
// jobs, so that whoever never submits one pays nothing; where the system has no threads to give, finish() is who works.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hstujit {

class Background {
 public:
  /// At most `threads` jobs run at a time.
  explicit Background(int threads) : most_(threads) {}
  /// Drops what has not begun and waits for what has.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// The job must not throw. Throws std::bad_alloc, and then the job is not taken.
  void submit(std::function<void()> job);
  /// Waits until no job is waiting or running; runs them itself while there is no thread.
  void finish();
  /// False while no thread could be started: jobs then wait for finish(), or for a thread that a later job starts.
  bool has_threads() const { return has_threads_.load(std::memory_order_relaxed); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  void work();
  void run_first(Lock& lock);

  const int most_;
  std::atomic<bool> has_threads_{false};
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> jobs_;
  int running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hstujit
