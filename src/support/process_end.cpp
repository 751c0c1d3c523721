#include "support/process_end.hpp"

#include "support/error.hpp"
#include "support/forks.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace hstujit {
namespace {

std::atomic<bool> ending{false};
std::atomic<bool> main_left{false};
std::atomic<int> works{0}, openings{0};
// Of them, this thread's: it may call exit() from within one.
constinit thread_local int own_works = 0, own_openings = 0;

void wait_for(std::atomic<int>& count, int own) {
  for (int now; (now = count) > own;) count.wait(now);
}

void end_one(std::atomic<int>& count) {
  --count;
  count.notify_all();
}

void wait_for_works() {
  ending = true;
  wait_for(works, own_works);
}

/// The parent's works are not the child's.
void forget_others() {
  works = own_works;
  openings = own_openings;
}

/// exit() destroys its thread's own objects before it calls anything that was registered, however late. main's thread
/// alone is known to come there, and is the one that loads the library, which has it made before anything can fail.
struct MainLeaves {
  ~MainLeaves() {
    if (gettid() != getpid()) return;
    main_left = true;
    wait_for(openings, own_openings);
  }
  bool made = true;
};
thread_local MainLeaves main_leaves;
[[maybe_unused]] const bool watched = main_leaves.made;

}  // namespace

EndsBeforeExit::EndsBeforeExit() {
  in_forked_children(forget_others);
  ++works;
  if (ending) end_one(works);
  refuse_if_ending();
  ++own_works;
}

EndsBeforeExit::~EndsBeforeExit() {
  --own_works;
  end_one(works);
}

void EndsBeforeExit::refuse_if_ending() {
  if (ending) fail(HSTU_ERROR_NOT_READY, "the process is ending: nothing is compiled any more");
}

bool EndsBeforeExit::asked_to_end() noexcept { return ending; }

void EndsBeforeExit::come_first() noexcept { std::atexit(wait_for_works); }

OpensBeforeExit::OpensBeforeExit() {
  in_forked_children(forget_others);
  ++openings;
  if (main_left) {
    end_one(openings);
    // Either the process is gone by then, or main ended by pthread_exit() and everything else goes on.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EndsBeforeExit::refuse_if_ending();
    ++openings;
  }
  ++own_openings;
}

OpensBeforeExit::~OpensBeforeExit() {
  --own_openings;
  end_one(openings);
}

}  // namespace hstujit
