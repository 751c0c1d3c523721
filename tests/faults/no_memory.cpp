#include "faults/no_memory.hpp"

#include <execinfo.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>

namespace hstujit::test {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int kOwnFrames = 2, kMostFrames = 32;  // of a backtrace: this file's, and all that are looked at

std::atomic<bool> armed{false}, lasts{false};
std::atomic<int64_t> first{kNever}, count{0};
uint64_t* places = nullptr;
size_t most_places = 0;
int place_depth = 0;
thread_local bool looking = false;  // a backtrace may allocate

uint64_t place_of_caller() {
  void* frames[kMostFrames];
  const int wanted = std::min(kOwnFrames + place_depth, kMostFrames);
  const int found = backtrace(frames, wanted);
  uint64_t digest = 0;
  for (int i = kOwnFrames; i < found; ++i)
    digest = (digest ^ reinterpret_cast<uintptr_t>(frames[i])) * 0x9e3779b97f4a7c15u;
  return digest;
}

[[gnu::noinline]] bool refused() {
  if (!armed.load(std::memory_order_relaxed) || looking) return false;
  const int64_t number = count.fetch_add(1, std::memory_order_relaxed);
  if (places && static_cast<size_t>(number) < most_places) {
    looking = true;
    places[number] = place_of_caller();
    looking = false;
  }
  const int64_t from = first.load(std::memory_order_relaxed);
  return number == from || (number > from && lasts.load(std::memory_order_relaxed));
}

void arm(int64_t nth, bool lasting) {
  first = nth;
  lasts = lasting;
  count = 0;
  armed = true;
}

}  // namespace

NoMemory::NoMemory(int64_t nth, bool lasting) { arm(nth, lasting); }
NoMemory::~NoMemory() { armed = false; }

AllocationPlaces::AllocationPlaces(uint64_t* to, size_t most, int depth) {
  void* frame = nullptr;
  backtrace(&frame, 1);  // opens the library that it needs
  places = to;
  most_places = most;
  place_depth = depth;
  arm(kNever, false);
}
AllocationPlaces::~AllocationPlaces() {
  armed = false;
  places = nullptr;
}

int64_t counted_allocations() { return count; }

bool can_refuse_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

}  // namespace hstujit::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define HSTU_REFUSE_IF_ASKED \
  if (hstujit::test::refused()) return errno = ENOMEM, nullptr

extern "C" {

// What stands behind glibc's own names.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  HSTU_REFUSE_IF_ASKED;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  HSTU_REFUSE_IF_ASKED;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  HSTU_REFUSE_IF_ASKED;
  return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  HSTU_REFUSE_IF_ASKED;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  HSTU_REFUSE_IF_ASKED;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (hstujit::test::refused()) return ENOMEM;
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}

}  // extern "C"

#endif
