// Lives of contexts, each in a process of its own, in which memory may run out: what no_memory_test.cpp tries.
#pragma once

#include "support/temp_dir.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hstujit::test {

/// Which context, and where its kernels and records come from.
struct Life {
  const char* name;
  const char* device;
  hstu_miss_policy policy;
  bool store;  ///< else in memory
  bool pack;   ///< a system store with the kernel and a record of it
};

inline constexpr Life kLives[] = {
    {"Cpu", "cpu", HSTU_MISS_DEFAULT, false, false},
    {"GpuWithoutAStore", "cuda:0", HSTU_MISS_DEFAULT, false, false},
    {"GpuWithAStore", "cuda:0", HSTU_MISS_NEAREST, true, false},
    {"GpuWithAPack", "cuda:0", HSTU_MISS_FAIL, false, true},
    {"GpuInTheBackground", "cuda:0", HSTU_MISS_ASYNC, true, false},
    {"GpuThatTunes", "cuda:0", HSTU_MISS_TUNE, false, false},
    {"CompilesOnly", "sm_90a", HSTU_MISS_DEFAULT, true, false},
};

struct LifeReport {
  std::string wrong;  ///< "" when all was as it should be
  int refused = 0;    ///< calls that said HSTU_ERROR_OUT_OF_MEMORY
};

struct Told;

class LivesRoom {
 public:
  explicit LivesRoom(const Life& life);

  /// The place of each allocation of a life that lacks nothing.
  std::vector<uint64_t> places(int depth) const;
  /// A life whose allocation `nth`, and all later ones if `lasting`, fail; then one more with all the memory.
  LifeReport live(int64_t nth, bool lasting) const;
  /// A life with all the memory, and none of the first threads that it asks for.
  LifeReport live_without_threads(int refused) const;

 private:
  friend std::string call_until_ready(int refused_threads);
  template <class Body>
  LifeReport in_child(const Body& body) const;
  template <class Watch, class... Args>
  void live_here(Told& told, Args... args) const;
  std::string pack_path() const { return dir_.str() + "/pack"; }

  const Life life_;
  const TempDir dir_;  ///< the pack
};

/// In a process of its own without the first threads: a call in the background, and again after it was not ready. What
/// was wrong.
std::string call_until_ready(int refused_threads);

}  // namespace hstujit::test
