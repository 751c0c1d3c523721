#include "faults/no_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace hstujit::test {
namespace {

std::atomic<int> left{0}, done{0};

bool refuses_thread() {
  if (left.load() <= 0 || left.fetch_sub(1) <= 0) return false;
  ++done;
  return true;
}

}  // namespace

NoThreads::NoThreads(int refused) {
  done = 0;
  left = refused;
}
NoThreads::~NoThreads() { left = 0; }
int NoThreads::refused() const { return done; }

}  // namespace hstujit::test

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* given) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return hstujit::test::refuses_thread() ? EAGAIN : real(thread, attributes, body, given);
}
