// What must not be under way when main returns: the process's libraries are then taken down, while its other threads
// still run.
#pragma once

namespace hstujit {

/// Cost inside of a library that does not outlive main, such as NVRTC. exit() waits for it, and lets no more begin.
class EndsBeforeExit {
 public:
  /// Throws Error{NOT_READY} once the process is ending.
  EndsBeforeExit();
  ~EndsBeforeExit();
  EndsBeforeExit(const EndsBeforeExit&) = delete;
  EndsBeforeExit& operator=(const EndsBeforeExit&) = delete;

  /// Throws Error{NOT_READY} once exit() waits.
  static void refuse_if_ending();
  /// Whether exit() waits: what can stop early should.
  static bool asked_to_end() noexcept;
  /// What the library registered for exit() so far comes after the waiting.
  static void come_first() noexcept;
};

/// Opening such a library, which registers for exit() what must not run while it is still being registered: the end of
/// main waits. It must not be one of many.
class OpensBeforeExit {
 public:
  /// Throws Error{NOT_READY} once the process is ending.
  OpensBeforeExit();
  ~OpensBeforeExit();
  OpensBeforeExit(const OpensBeforeExit&) = delete;
  OpensBeforeExit& operator=(const OpensBeforeExit&) = delete;
};

}  // namespace hstujit
