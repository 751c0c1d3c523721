#include "support/forks.hpp"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <new>

namespace hstujit {
namespace {

pthread_rwlock_t forking = PTHREAD_RWLOCK_INITIALIZER;  // readers go first: they nest
constinit thread_local int inside = 0;
constinit thread_local bool waited = false;

constexpr int kMostChildWorks = 8;
std::atomic<void (*)()> child_works[kMostChildWorks];

void before_fork() {
  waited = inside == 0;
  if (waited) pthread_rwlock_wrlock(&forking);
}

void after_fork_in_parent() {
  if (waited) pthread_rwlock_unlock(&forking);
}

void after_fork_in_child() {
  // Not unlocked: a lock knows its owner by a number that a child's thread does not have.
  forking = PTHREAD_RWLOCK_INITIALIZER;
  for (int i = 0; i < inside; ++i) pthread_rwlock_rdlock(&forking);
  for (const auto& work : child_works)
    if (void (*const call)() = work.load()) call();
}

bool watch() noexcept { return pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0; }

// When the library is loaded: a static object of the first call could be half made when another thread forks, and a
// child would wait for the half that never comes.
std::atomic<bool> watched = watch();
std::atomic<bool> watching_again = false;

}  // namespace

NoForkMeanwhile::NoForkMeanwhile() noexcept {
  pthread_rwlock_rdlock(&forking);
  ++inside;
}

NoForkMeanwhile::~NoForkMeanwhile() {
  --inside;
  pthread_rwlock_unlock(&forking);
}

void watch_forks() {
  if (watched) return;
  // There was no memory then. One thread tries again, so that there are no two watches.
  if (watching_again.exchange(true)) throw std::bad_alloc();
  watched = watched || watch();
  watching_again = false;
  if (!watched) throw std::bad_alloc();
}

void in_forked_children(void (*in_child)()) {
  for (auto& work : child_works) {
    void (*none)() = nullptr;
    if (work.compare_exchange_strong(none, in_child) || none == in_child) return;
  }
  std::terminate();  // a static object too many: more room is needed
}

}  // namespace hstujit
