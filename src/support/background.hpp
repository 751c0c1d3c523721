// Work behind the caller's back: a few threads that run jobs in the order of their arrival. They start with the first
// job, so that whoever never submits one pays nothing.
#pragma once

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

  /// The job must not throw.
  void submit(std::function<void()> job);
  /// Waits until no job is waiting or running.
  void finish();

 private:
  void work();

  const int most_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> jobs_;
  int running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hstujit
