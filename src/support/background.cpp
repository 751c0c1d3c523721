#include "support/background.hpp"

#include "support/threads.hpp"

namespace hstujit {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Background::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (static_cast<int>(threads_.size()) < most_ && start_thread(threads_, [this] { work(); })) has_threads_ = true;
  }
  wake_.notify_one();
}

void Background::finish() {
  Lock lock(mutex_);
  while (!has_threads() && !jobs_.empty()) run_first(lock);
  idle_.wait(lock, [this] { return jobs_.empty() && running_ == 0; });
}

void Background::work() {
  Lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    run_first(lock);
  }
}

/// Outside of the lock, which is held before and after.
void Background::run_first(Lock& lock) {
  {
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    ++running_;
    lock.unlock();
    job();
  }  // what the job held is gone before anybody is told that it ended
  lock.lock();
  if (--running_ == 0 && jobs_.empty()) idle_.notify_all();
}

}  // namespace hstujit
