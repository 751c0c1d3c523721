// System calls that fail when a test says so. The wrappers in faults.cpp take the place of libc's functions in the
// whole program, SQLite included.
#pragma once

#include <atomic>

namespace hstujit::test {

/// From now on this thread's calls of open, read, write, fsync, rename and their kin are counted; the `nth` of them,
/// from 0, and all later ones if `lasting`, fail with `error`.
class Faults {
 public:
  Faults(int nth, int error, bool lasting);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Whether a call failed so far; when none did, there were fewer than `nth` of them.
  bool struck() const;
};

/// From now on fsync and fdatasync do nothing, in a process whose files nobody reads after a crash.
void flush_nothing();

/// For the wrappers: 0, or the errno that this call must fail with.
int injected_fault();

}  // namespace hstujit::test
