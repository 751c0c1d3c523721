// What a server is asked, counted while it serves: problems and shapes, never contents. Written as a workload file that
// hstu-tune tunes for.
#pragma once

#include "operators/operators.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hstujit {

/// A histogram that any number of threads fill without locks or memory of their own.
class Traffic {
 public:
  /// Counts a call. args: prepared. Lengths, rows and extents within an eighth of an octave count as one shape.
  void count(const Problem& problem, const void* args);

  /// One shape: the first call of it that was seen.
  struct Shape {
    Problem problem;
    std::vector<std::byte> args;  ///< the operator's struct; its pointers mean nothing
    int64_t calls = 0;
  };
  std::vector<Shape> shapes() const;
  /// Calls that met a full table.
  int64_t overflow() const { return overflow_.load(std::memory_order_relaxed); }

 private:
#define HSTUJIT_SIZE(op, args_type, function) sizeof(args_type),
  static constexpr size_t kMostArgs = std::max({HSTUJIT_OPERATOR_MAP(HSTUJIT_SIZE) size_t{0}});
#undef HSTUJIT_SIZE
  static constexpr size_t kSlots = 2048, kMostProbes = 32;

  struct Slot {
    std::atomic<uint64_t> tag{0};  ///< of the shape; 0 while nobody has the slot
    std::atomic<int64_t> calls{0};
    std::atomic<bool> filled{false};  ///< problem and args may be read
    Problem problem;
    std::array<std::byte, kMostArgs> args;
  };
  std::array<Slot, kSlots> slots_{};
  std::atomic<int64_t> overflow_{0};
};

/// The shapes as a workload file, those first that the device spends most time in (calls times a lower bound of the
/// kernel's time). Sequences get lengths that add up to the rows that were seen, evenly spread, since their own lengths
/// stay on the device. Shapes that a workload cannot express, unaligned buffers say, are left out; *left_out is how
/// many.
std::string workload_text(const std::vector<Traffic::Shape>& shapes, int64_t* left_out);

}  // namespace hstujit
