#include "operators/movable_args.hpp"

#include <cstring>

namespace hstujit {
namespace {

constexpr uintptr_t kAlignment = 127;  // what keys know about an address lies in these bits

uintptr_t address_at(const void* args, size_t offset) {
  uintptr_t address = 0;
  std::memcpy(&address, static_cast<const std::byte*>(args) + offset, sizeof address);
  return address;
}

}  // namespace

MovableArgs::MovableArgs(const Operator& op, const void* args) : op_(&op) {
  std::memcpy(given_.data(), args, op.args_size);
  std::memcpy(prepared_.data(), args, op.args_size);
  problem_ = op.prepare(prepared_.data());
  for (const TensorSlot& slot : op.tensors) {
    const hstu_tensor& t = tensor_at(prepared_.data(), slot);
    if (!present(t)) continue;
    buffers_.at(present_++) = {slot.offset + offsetof(hstu_tensor, data), static_cast<uint64_t>(extent_bytes(t)),
                               slot.role == TensorRole::output};
  }
  if (op.workspace && workspace_at(prepared_.data(), *op.workspace))
    buffers_.at(present_++) = {op.workspace->address, workspace_size_at(prepared_.data(), *op.workspace), true};
  // Not every operator lists its tensors as they stand in the struct.
  std::sort(buffers_.begin(), buffers_.begin() + present_,
            [](const Buffer& a, const Buffer& b) { return a.offset < b.offset; });
  size_t at = 0;
  for (size_t i = 0; i < present_; ++i) {
    between_[i] = {at, buffers_[i].offset - at};
    at = buffers_[i].offset + sizeof(void*);
  }
  between_[present_] = {at, op.args_size - at};
}

bool MovableArgs::same(const void* args) const { return std::memcmp(args, given_.data(), op_->args_size) == 0; }

bool MovableArgs::moves(const void* args) const {
  const auto* bytes = static_cast<const std::byte*>(args);
  for (const Stretch& s : between())
    if (std::memcmp(bytes + s.offset, given_.data() + s.offset, s.size) != 0) return false;
  for (const Buffer& b : buffers()) {
    const uintptr_t fresh = address_at(args, b.offset), known = address_at(given_.data(), b.offset);
    if (((fresh ^ known) & kAlignment) != 0 || (fresh == 0) != (known == 0)) return false;
  }
  for (const Buffer& b : buffers())
    if (b.output && meets_another(b, args)) return false;
  return true;
}

void MovableArgs::move(const void* args, ArgsBytes& out) const {
  std::memcpy(out.data(), prepared_.data(), op_->args_size);
  for (const Buffer& b : buffers())
    std::memcpy(out.data() + b.offset, static_cast<const std::byte*>(args) + b.offset, sizeof(uintptr_t));
}

/// Tensors that met before, an output in place of its input say, may meet again at the same distance.
bool MovableArgs::meets_another(const Buffer& output, const void* args) const {
  const uintptr_t begin = address_at(args, output.offset), known = address_at(given_.data(), output.offset);
  for (const Buffer& other : buffers()) {
    const uintptr_t at = address_at(args, other.offset);
    if (begin < at + other.bytes && at < begin + output.bytes &&
        begin - at != known - address_at(given_.data(), other.offset))
      return true;
  }
  return false;
}

}  // namespace hstujit
