#include "call/recent_calls.hpp"

#include "support/thread_end.hpp"

#include <memory>

namespace hstujit {
namespace {

uint64_t mix(uint64_t mark, const void* args, size_t offset) {
  uint64_t word;
  std::memcpy(&word, static_cast<const std::byte*>(args) + offset, sizeof word);
  return (mark ^ word >> 4 ^ word << 60) * 0x9e3779b97f4a7c15u;
}

}  // namespace

uint64_t RecentProblem::mark_of(Op op, const void* args, size_t size) {
  uint64_t mark = static_cast<uint64_t>(op);
  for (size_t tensor = 0, at = kFirstTensor[static_cast<size_t>(op)]; tensor < 3 && at + sizeof(hstu_tensor) <= size;
       ++tensor, at += sizeof(hstu_tensor))
    for (size_t dim = 0; dim < 2; ++dim)
      mark = mix(mark, args, at + offsetof(hstu_tensor, shape) + dim * sizeof(int64_t));
  return mark;
}

constinit thread_local RecentCalls* RecentCalls::own_ = nullptr;

RecentCalls& RecentCalls::make() {
  // Not make_unique: it would write the half megabyte, most of which few threads ever touch.
  auto fresh = std::make_unique_for_overwrite<RecentCalls>();
  at_thread_end(fresh.get(), [](void* remembered) {
    own_ = nullptr;
    delete static_cast<RecentCalls*>(remembered);
  });
  return *(own_ = fresh.release());
}

}  // namespace hstujit
