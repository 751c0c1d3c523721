// Named stretches of time for NVIDIA's profilers (NVTX): calls, plans, compilations, loads and tuning, in the domain
// "hstujit". Where no profiler has put its tool library into the process, a range is one look at a flag.
#pragma once

#include <atomic>
#include <string>

namespace hstujit {

class Range {
 public:
  /// `name` is asked for a const char* or std::string only when somebody watches.
  template <class Name>
  explicit Range(Name&& name) : open_(watched_.load(std::memory_order_relaxed)) {
    if (open_) [[unlikely]]
      push(std::string(name()));
  }
  ~Range() {
    if (open_) [[unlikely]]
      pop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  /// Looks for the tool library, once per process; contexts do it when they are created.
  static void look_for_tool();

 private:
  static void push(const std::string& name);
  static void pop();

  inline static std::atomic<bool> watched_{false};
  const bool open_;
};

}  // namespace hstujit
