#include "capi/handle.hpp"

#include "support/error.hpp"
#include "support/forks.hpp"
#include "support/thread_end.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <thread>

namespace hstujit {
namespace {

using State = hstu_context::State;

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

/// Makes every thread of the process pass a full fence; false where the system cannot. Registering waits some
/// milliseconds in a process of many threads, so it is left to the first context that is destroyed.
bool fence_all_threads() {
  // No static object of a function's: a child that is forked during its making would wait for it for ever.
  static constinit std::atomic<bool> registered{false};
  if (!registered) registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return (registered && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) || membarrier(MEMBARRIER_CMD_GLOBAL) == 0;
}

bool can_fence_all_threads() {
  const long commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands > 0 && (commands & (MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_GLOBAL)) != 0;
}

/// Every handle and every thread's mark. Lives as long as the process: threads of the host may outlast its statics.
struct Registry {
  std::mutex mutex;
  hstu_context* handles = nullptr;
  std::atomic<Visitor*> visitors{nullptr};  ///< pushed at the front, never removed
};

Registry& registry() {
  static constinit Registry only;
  return only;
}

/// In the child, threads and device are gone: no context of the parent can be used or freed.
void shut_all_in_child() {
  new (&registry().mutex) std::mutex;
  for (hstu_context* handle = registry().handles; handle; handle = handle->next)
    if (handle->state.load() != State::destroyed) handle->state.store(State::forked);
  for (Visitor* visitor = registry().visitors.load(); visitor; visitor = visitor->next) visitor->inside.store(nullptr);
}

Visitor& free_visitor() {
  for (Visitor* each = registry().visitors.load(std::memory_order_acquire); each; each = each->next)
    if (!each->taken.exchange(true, std::memory_order_acquire)) return *each;
  auto* fresh = new Visitor;
  fresh->next = registry().visitors.load(std::memory_order_relaxed);
  while (!registry().visitors.compare_exchange_weak(fresh->next, fresh, std::memory_order_release)) {}
  return *fresh;
}

}  // namespace

constinit thread_local Visitor* Visit::own_ = nullptr;

Visitor& Visit::register_thread() {
  Visitor& visitor = free_visitor();
  const auto give_to_next_thread = [](void* taken) {
    static_cast<Visitor*>(taken)->taken.store(false, std::memory_order_release);
    own_ = nullptr;
  };
  try {
    at_thread_end(&visitor, give_to_next_thread);
  } catch (...) {
    give_to_next_thread(&visitor);
    throw;
  }
  return *(own_ = &visitor);
}

void Visit::fence_or_refuse(Visitor& visitor, const hstu_context& handle) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (handle.state.load(std::memory_order_acquire) == State::fenced) return;
  visitor.inside.store(nullptr, std::memory_order_release);  // a constructor that throws runs no destructor
  if (handle.state.load() == State::forked)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "context: it was created before fork() and belongs to the parent process; create one in the child, before the "
         "parent uses CUDA or in a new process image");
  fail(HSTU_ERROR_INVALID_ARGUMENT, "context: it was destroyed");
}

}  // namespace hstujit

using namespace hstujit;

hstu_context* hstu_context::create(ContextOptions options, const Environment& environment) {
  in_forked_children(shut_all_in_child);
  static const bool can_fence = can_fence_all_threads();
  auto made = std::make_unique<Context>(std::move(options), environment);
  auto* handle = new hstu_context(std::move(made), can_fence ? State::open : State::fenced);
  const std::lock_guard lock(registry().mutex);
  handle->next = registry().handles;
  return registry().handles = handle;
}

void hstu_context::destroy() {
  State expected = state.load();
  while (expected == State::open || expected == State::fenced)
    if (state.compare_exchange_weak(expected, State::destroyed)) return shut(expected);
}

void hstu_context::shut(State before) {
  if (before == State::fenced || !fence_all_threads()) std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const Visitor* each = registry().visitors.load(std::memory_order_acquire); each; each = each->next)
    while (each->inside.load(std::memory_order_acquire) == this) std::this_thread::yield();
  owned_.reset();
}
