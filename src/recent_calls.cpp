#include "recent_calls.hpp"

#include <algorithm>
#include <memory>

namespace hstujit {
namespace {

// Of a layer's stages and a stack's layers all, in a few hundred kilobytes a thread.
constexpr size_t kPlaces = 64;

struct Places {
  RecentCall calls[kPlaces];
};

/// From the first tensors' addresses and the operator.
size_t place_of(Op op, const void* args, size_t size) {
  constexpr size_t kFirst = sizeof(size_t);  // behind struct_size
  uint64_t mixed = static_cast<uint64_t>(op);
  for (size_t offset = kFirst; offset + sizeof(uint64_t) <= std::min(size, kFirst + 4 * sizeof(hstu_tensor));
       offset += sizeof(hstu_tensor)) {
    uint64_t word;
    std::memcpy(&word, static_cast<const std::byte*>(args) + offset, sizeof word);
    mixed = (mixed ^ word >> 4) * 0x9e3779b97f4a7c15u;
  }
  return mixed >> 58;
}
static_assert(kPlaces == size_t{1} << 6);

}  // namespace

RecentCall& RecentCall::place(Op op, const void* args, size_t size) {
  thread_local const std::unique_ptr<Places> places = std::make_unique<Places>();
  return places->calls[place_of(op, args, size)];
}

}  // namespace hstujit
