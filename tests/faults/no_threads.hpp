// Threads that cannot be made when a test says so: pthread_create in no_threads.cpp takes the place of libc's in the
// whole program.
#pragma once

namespace hstujit::test {

/// While it lives, the first `refused` calls of pthread_create, of any thread, give EAGAIN.
class NoThreads {
 public:
  explicit NoThreads(int refused = 1'000'000);
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

  /// How many it refused so far.
  int refused() const;
};

}  // namespace hstujit::test
