// Progress of long work: a bar that redraws itself on a terminal, plain lines now and then elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

namespace hstujit::tool {

class Progress {
 public:
  /// Draws to `out`; a bar if that is a terminal.
  explicit Progress(FILE* out = stderr);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// How far the work is, 0 to 1, and what to say about it. Not every call draws.
  void show(double share, const std::string& text);
  /// A line that stays, above the bar.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  void clear();
  void put(const std::string& text);

  FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point next_;  ///< earlier calls of show() draw nothing
};

/// While one lives, Ctrl-C and SIGTERM set a flag instead of ending the process; a second Ctrl-C ends it. One at a
/// time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool asked() { return flag(); }
  /// Set from the signal handler; for those who wait for it in their own loops.
  static const std::atomic<bool>& flag();
};

}  // namespace hstujit::tool
