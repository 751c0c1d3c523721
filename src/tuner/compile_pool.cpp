#include "tuner/compile_pool.hpp"

#include "support/threads.hpp"

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
    waiting_.clear();
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void CompilePool::order(Order order) {
  if (workers_.empty()) {
    done_.push_back(make(order));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    done_.reserve(done_.size() + waiting_.size() + running_ + 1);
    waiting_.push_back(std::move(order));
  }
  wake_.notify_one();
}

std::optional<Compiled> CompilePool::take(double until) {
  const auto deadline =
      start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(until, 1e9)));
  std::unique_lock lock(mutex_);
  finished_.wait_until(lock, deadline, [this] { return !done_.empty() || (waiting_.empty() && running_ == 0); });
  if (done_.empty()) return std::nullopt;
  Compiled first = std::move(done_.front());
  done_.erase(done_.begin());
  return first;
}

Compiled CompilePool::make(const Order& order) {
  Compiled made;
  made.ticket = order.ticket;
  const double begun = now();
  try {
    made.kernel = compile_(order.source());
  } catch (...) { made.error = std::current_exception(); }
  made.seconds = now() - begun;
  return made;
}

std::vector<uint64_t> CompilePool::drop_waiting() {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> dropped;
  for (const Order& order : waiting_) dropped.push_back(order.ticket);
  waiting_.clear();
  return dropped;
}

double CompilePool::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_ + static_cast<double>(running_) * (now() - counted_at_);
}

void CompilePool::count_running(int change) {
  const double time = now();
  busy_ += static_cast<double>(running_) * (time - counted_at_);
  counted_at_ = time;
  running_ += static_cast<size_t>(change);
}

void CompilePool::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const Order order = std::move(waiting_.front());
    waiting_.pop_front();
    count_running(1);
    lock.unlock();
    Compiled made = make(order);
    lock.lock();
    count_running(-1);
    done_.push_back(std::move(made));
    finished_.notify_one();
  }
}

}  // namespace hstujit
