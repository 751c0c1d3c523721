#include "support/thread_end.hpp"

#include <pthread.h>

namespace hstujit {
namespace {

struct Arrangement {
  void* object;
  void (*end)(void*);
  Arrangement* earlier;
};

void end_all(void* last) {
  for (auto* each = static_cast<Arrangement*>(last); each;) {
    const std::unique_ptr<Arrangement> done(each);
    each = done->earlier;
    done->end(done->object);
  }
}

/// A key has no memory to find at first use, if it is among a process's first 32, and a status to give if it is not.
pthread_key_t key() {
  static const pthread_key_t only = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, end_all) != 0) throw std::bad_alloc();
    return made;
  }();
  return only;
}

}  // namespace

void at_thread_end(void* object, void (*end)(void*)) {
  std::unique_ptr<Arrangement> fresh(
      new Arrangement{object, end, static_cast<Arrangement*>(pthread_getspecific(key()))});
  if (pthread_setspecific(key(), fresh.get()) != 0) throw std::bad_alloc();
  fresh.release();
}

}  // namespace hstujit
