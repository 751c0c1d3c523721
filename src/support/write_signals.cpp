#include "support/write_signals.hpp"

#include <pthread.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace hstujit {

HeldWriteSignals::HeldWriteSignals() {
  sigset_t pending;
  sigemptyset(&ours_);
  sigaddset(&ours_, SIGXFSZ);
  sigaddset(&ours_, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &ours_, &mask_before_);
  sigpending(&pending);
  for (const int signal : {SIGXFSZ, SIGPIPE})
    if (sigismember(&pending, signal) == 1) sigdelset(&ours_, signal);
}

HeldWriteSignals::~HeldWriteSignals() {
  const int error = errno;
  constexpr timespec kNoWait{};
  while (sigtimedwait(&ours_, nullptr, &kNoWait) > 0 || errno == EINTR) {}  // they are sent to the thread that writes
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  errno = error;
}

}  // namespace hstujit
