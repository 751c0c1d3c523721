// What stands behind the public handle: a context, and the door through which every call enters. A handle is never
// freed, only shut, so that a call on a destroyed context, or on one inherited through fork(), gets a status.
#pragma once

#include "call/context.hpp"

#include <hstujit/hstujit.h>

#include <atomic>
#include <memory>

struct hstu_context {
  enum class State : int {
    open,
    fenced,  ///< open, and each visitor fences for itself, for the system cannot fence all threads
    destroyed,
    forked,  ///< in a child process: the context belongs to its parent
  };

  /// Creates the context and registers the handle with the process.
  static hstu_context* create(hstujit::ContextOptions options, const hstujit::Environment& environment);
  /// Lets no new call in, waits for those inside and frees the context. Again, or in a forked child: does nothing.
  void destroy();

  hstujit::Context& context;  ///< for visitors, and for the tool, which looks at the plans that a host's calls use
  std::atomic<State> state;
  hstu_context* next = nullptr;  ///< all handles of the process, see handle.cpp

 private:
  void shut(State before);
  hstu_context(std::unique_ptr<hstujit::Context> made, State first)
      : context(*made), state(first), owned_(std::move(made)) {}

  std::unique_ptr<hstujit::Context> owned_;
};

namespace hstujit {

/// Which handle this thread is inside of; written by its thread, read by whoever destroys a context.
struct alignas(64) Visitor {
  std::atomic<const hstu_context*> inside{nullptr};
  std::atomic<bool> taken{true};  ///< by a living thread
  Visitor* next = nullptr;
};

/// One call's presence inside a context. Two plain stores: the heavy half of the fence is destroy()'s (membarrier).
class Visit {
 public:
  /// Throws Error{INVALID_ARGUMENT} when the handle is shut.
  explicit Visit(hstu_context& handle) : visitor_(own_visitor()), handle_(handle) {
    visitor_.inside.store(&handle, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (handle.state.load(std::memory_order_acquire) != hstu_context::State::open) [[unlikely]]
      fence_or_refuse(visitor_, handle);
  }
  ~Visit() { visitor_.inside.store(nullptr, std::memory_order_release); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  Context& operator*() const { return handle_.context; }
  Context* operator->() const { return &handle_.context; }

 private:
  static Visitor& own_visitor() { return own_ ? *own_ : register_thread(); }
  static Visitor& register_thread();
  static void fence_or_refuse(Visitor& visitor, const hstu_context& handle);

  static constinit thread_local Visitor* own_;

  Visitor& visitor_;
  hstu_context& handle_;
};

}  // namespace hstujit
