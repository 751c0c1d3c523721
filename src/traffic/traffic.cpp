#include "traffic/traffic.hpp"

#include <bit>
#include <cstring>

namespace hstujit {
namespace {

/// The value with three bits behind its leading one: eight steps an octave.
uint64_t step_of(int64_t value) {
  const auto magnitude = static_cast<uint64_t>(std::max<int64_t>(value, 0));
  const auto width = static_cast<unsigned>(std::bit_width(magnitude));
  return width <= 4 ? magnitude : (uint64_t{width} << 8) | (magnitude >> (width - 4));
}

uint64_t mixed(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15; }

int64_t integer_at(const void* args, const ScalarSlot& slot) {
  const std::byte* const at = static_cast<const std::byte*>(args) + slot.offset;
  if (slot.kind == ScalarSlot::Kind::i64) return *reinterpret_cast<const int64_t*>(at);
  return slot.kind == ScalarSlot::Kind::i32 ? *reinterpret_cast<const int32_t*>(at) : 0;
}

uint64_t tag_of(const Problem& problem, const Operator& op, const void* args) {
  uint64_t tag = problem.hash();
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& tensor = tensor_at(args, slot);
    for (int d = 0; d < tensor.rank; ++d) tag = mixed(tag, step_of(tensor.shape[d]));
  }
  for (const ScalarSlot& slot : op.scalars) tag = mixed(tag, step_of(integer_at(args, slot)));
  return tag | 1;
}

}  // namespace

void Traffic::count(const Problem& problem, const void* args) {
  const Operator& op = operator_of(problem.op);
  const uint64_t tag = tag_of(problem, op, args);
  for (size_t probe = 0; probe < kMostProbes; ++probe) {
    Slot& slot = slots_[((tag >> 32) + probe) % kSlots];
    uint64_t seen = slot.tag.load(std::memory_order_acquire);
    if (seen == 0 && slot.tag.compare_exchange_strong(seen, tag, std::memory_order_acq_rel)) {
      slot.problem = problem;
      std::memcpy(slot.args.data(), args, op.args_size);
      slot.filled.store(true, std::memory_order_release);
      seen = tag;
    }
    if (seen != tag) continue;
    slot.calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  overflow_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Traffic::Shape> Traffic::shapes() const {
  std::vector<Shape> shapes;
  for (const Slot& slot : slots_) {
    if (!slot.filled.load(std::memory_order_acquire)) continue;
    const size_t bytes = operator_of(slot.problem.op).args_size;
    shapes.push_back({slot.problem,
                      {slot.args.begin(), slot.args.begin() + static_cast<std::ptrdiff_t>(bytes)},
                      slot.calls.load(std::memory_order_relaxed)});
  }
  return shapes;
}

}  // namespace hstujit
