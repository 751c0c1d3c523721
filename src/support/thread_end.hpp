// What a thread owns, given back when it ends. Not thread_local objects with destructors: where memory has run out, the
// C library ends the process when such an object is first used.
#pragma once

#include <memory>
#include <new>

namespace hstujit {

/// Arranges that end(object) is called when this thread ends, after its thread_local objects are gone; the last
/// arranged comes first. Throws std::bad_alloc, and then nothing is arranged. Not called for the thread that leaves
/// main.
void at_thread_end(void* object, void (*end)(void*));

/// One T of each thread that asks: made when it first does, gone when the thread ends.
template <class T>
class OfThread {
 public:
  /// Throws std::bad_alloc, and what T's constructor throws.
  static T& get() { return own_ ? *own_ : make(); }
  /// Null while the thread has none.
  static T* known() { return own_; }

 private:
  [[gnu::noinline]] static T& make() {
    auto fresh = std::make_unique<T>();
    at_thread_end(fresh.get(), [](void* object) {
      own_ = nullptr;  // a call from what ends later makes another one
      delete static_cast<T*>(object);
    });
    return *(own_ = fresh.release());
  }

  inline static constinit thread_local T* own_ = nullptr;
};

}  // namespace hstujit
