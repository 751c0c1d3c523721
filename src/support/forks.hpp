// fork() while other threads are inside the library: the child has their locks, taken, and not the threads that would
// release them; those of SQLite, the log and the loader among them, and the first uses of static objects.
#pragma once

namespace hstujit {

/// While one lives, other threads' fork() waits: for what is short, and what a child needs to create contexts of its
/// own. They nest; a thread that forks while it has one itself does not wait.
class NoForkMeanwhile {
 public:
  NoForkMeanwhile() noexcept;
  ~NoForkMeanwhile();
  NoForkMeanwhile(const NoForkMeanwhile&) = delete;
  NoForkMeanwhile& operator=(const NoForkMeanwhile&) = delete;
};

/// Forks wait for those above from the library's loading on, or, where there was no memory then, from now on. Throws
/// std::bad_alloc.
void watch_forks();

/// Arranges that each child process calls in_child first, when it is one thread alone. For static objects of the
/// library: there is room for a few. Any time before their first use.
void in_forked_children(void (*in_child)());

}  // namespace hstujit
