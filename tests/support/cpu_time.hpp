// What a short piece of code costs, on a machine that others use, too.
#pragma once

#include <algorithm>
#include <ctime>

namespace hstujit::test {

/// How much longer than else a piece of code may take: `times` under a sanitizer, whose instrumentation has its share.
constexpr double sanitizer_share([[maybe_unused]] double times) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return times;
#else
  return 1;
#endif
}

/// This thread's CPU time so far.
inline double thread_seconds() {
  std::timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

/// Nanoseconds of this thread's CPU time that one run of `work` takes, in the quietest of many rounds.
template <class Work>
double quietest_ns(Work&& work) {
  constexpr int kRounds = 40, kRuns = 2000;
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = thread_seconds();
    for (int i = 0; i < kRuns; ++i) work();
    best = std::min(best, (thread_seconds() - begin) * 1e9 / kRuns);
  }
  return best;
}

}  // namespace hstujit::test
