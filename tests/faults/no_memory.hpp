// Allocations that fail when a test says so. The functions in no_memory.cpp take the place of libc's malloc and its kin
// in the whole program: in the library, in what it links, and in the drivers and compilers that it opens.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hstujit::test {

/// From now on the allocations of all threads are counted; the `nth` of them, from 0, fails, and all later ones too if
/// `lasting`. One at a time.
class NoMemory {
 public:
  NoMemory(int64_t nth, bool lasting);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

/// Allocations are counted, none fails, and of each its place is kept: a digest of the callers that led to it.
class AllocationPlaces {
 public:
  /// places: room for so many; depth: so many callers tell one place from another.
  AllocationPlaces(uint64_t* places, size_t most, int depth);
  ~AllocationPlaces();
  AllocationPlaces(const AllocationPlaces&) = delete;
  AllocationPlaces& operator=(const AllocationPlaces&) = delete;
};

/// How many allocations were counted by the last of them so far.
int64_t counted_allocations();

/// False where a sanitizer has its own functions in malloc's place.
bool can_refuse_memory();

}  // namespace hstujit::test
