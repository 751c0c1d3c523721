// Threads of the library's own. A system may have none to give, for a moment or for good; who asks does with fewer.
#pragma once

#include "support/log.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hstujit {

/// Adds a thread that runs `body`, which must not throw, to a vector of std::thread or std::jthread. False when there
/// is no thread to be had, or no memory for one.
template <class Threads, class Body>
bool start_thread(Threads& threads, Body&& body) noexcept {
  try {
    threads.emplace_back(std::forward<Body>(body));
    return true;
  } catch (const std::exception& error) {  // std::system_error, std::bad_alloc
    log().info("a thread less, {} run: {}", threads.size(), error.what());
    return false;
  }
}

/// Calls body(i) for every i below count, in turn, in this thread and in up to threads - 1 more. What a body throws
/// ends the rest, and is thrown here once all threads have ended.
template <class Body>
void for_each_index(int64_t count, int64_t threads, const Body& body) {
  std::atomic<int64_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  const auto work = [&]() noexcept {
    try {
      for (int64_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      const std::lock_guard lock(failing);
      failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int64_t t = 1; t < std::min(threads, count) && start_thread(helpers, work); ++t) {}
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hstujit
