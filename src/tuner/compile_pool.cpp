#include "tuner/compile_pool.hpp"

#include "support/threads.hpp"

#include <algorithm>

namespace hstujit {

int default_compile_threads() {
  constexpr int kMost = 16;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMost);
}

CompilePool::CompilePool(int threads, Compile compile) : compile_(std::move(compile)) {
  for (int i = 0; i < std::max(threads, 1); ++i)
    if (!start_thread(workers_, [this] { work(); })) break;
}

CompilePool::~CompilePool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    tasks_.clear();
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::future<KernelPtr> CompilePool::submit(Source source) {
  Task task{std::move(source), {}};
  std::future<KernelPtr> future = task.promise.get_future();
  if (workers_.empty()) return run(task), std::move(future);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
  return future;
}

void CompilePool::drop_waiting() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

void CompilePool::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    run(task);
  }
}

void CompilePool::run(Task& task) {
  try {
    task.promise.set_value(compile_(task.source));
  } catch (...) { task.promise.set_exception(std::current_exception()); }
}

}  // namespace hstujit
