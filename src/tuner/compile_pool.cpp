#include "tuner/compile_pool.hpp"

#include "support/threads.hpp"

namespace hstujit {

int default_compile_threads() {
  constexpr int kMost = 16;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMost);
}

CompilePool::CompilePool(int threads, Compile compile, Recall recall)
    : compile_(std::move(compile)), recall_(std::move(recall)) {
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

std::optional<Compiled> CompilePool::find(const Order& order) {
  if (!recall_) return std::nullopt;
  const double begun = now();
  KernelPtr kernel = recall_(order.source());
  if (!kernel) return std::nullopt;
  return Compiled{order.ticket, std::move(kernel), nullptr, now() - begun};
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

std::vector<uint64_t> CompilePool::drop(const std::function<bool(uint64_t ticket)>& which) {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> dropped;
  std::erase_if(waiting_, [&](const Order& order) {
    if (!which(order.ticket)) return false;
    dropped.push_back(order.ticket);
    return true;
  });
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
