#include "workload/calls.hpp"

#include "tuner/values.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>

namespace hstujit {
namespace {

constexpr uintptr_t kAlignment = 256;

}  // namespace

void* address(AnyArgs& args) {
  return std::visit([](auto& concrete) { return static_cast<void*>(&concrete); }, args);
}

const void* address(const AnyArgs& args) {
  return std::visit([](const auto& concrete) { return static_cast<const void*>(&concrete); }, args);
}

int Calls::find(std::string_view buffer_name) const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == buffer_name) return static_cast<int>(i);
  return -1;
}

std::vector<void*> made_up_addresses(const std::vector<Buffer>& buffers) {
  std::vector<void*> bases;
  uintptr_t next = uintptr_t{1} << 32;
  for (const Buffer& buffer : buffers) {
    bases.push_back(reinterpret_cast<void*>(next));
    next += (static_cast<uintptr_t>(buffer.bytes()) / kAlignment + 1) * kAlignment;
  }
  return bases;
}

AnyArgs placed_args(const Call& call, const Calls& calls, std::span<void* const> bases) {
  AnyArgs args = call.args;
  const std::span<const TensorSlot> slots = operator_of(call.op).tensors;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Place& place = call.places[i];
    if (place.buffer < 0) continue;
    const auto buffer = static_cast<size_t>(place.buffer);
    tensor_at(address(args), slots[i]).data =
        static_cast<std::byte*>(bases[buffer]) + place.offset * size_of(calls.buffers[buffer].dtype);
  }
  if (call.workspace.buffer >= 0)
    workspace_at(address(args), *operator_of(call.op).workspace) = bases[static_cast<size_t>(call.workspace.buffer)];
  return args;
}

AnyArgs prepared(const Call& call, const Calls& calls, const std::function<void*(const Buffer&)>& integers) {
  std::vector<void*> bases = made_up_addresses(calls.buffers);
  for (const Place& place : call.places) {
    if (place.buffer < 0) continue;
    const auto i = static_cast<size_t>(place.buffer);
    if (calls.buffers[i].content == Buffer::Content::integers) bases[i] = integers(calls.buffers[i]);
  }
  AnyArgs args = placed_args(call, calls, bases);
  operator_of(call.op).prepare(address(args));
  return args;
}

Problem problem_of(const Call& call, const Calls& calls) {
  AnyArgs args = placed_args(call, calls, made_up_addresses(calls.buffers));
  return operator_of(call.op).prepare(address(args));
}

Cost cost_of(const Call& call, const Calls& calls) {
  std::deque<std::vector<std::byte>> contents;
  const AnyArgs args = prepared(call, calls, [&](const Buffer& buffer) -> void* {
    return contents.emplace_back(encode(buffer.list, buffer.dtype)).data();
  });
  return operator_of(call.op).cost(address(args));
}

std::vector<Need> needs_on(const DeviceFacts& device, const std::vector<Need>& all) {
  std::vector<Need> result;
  for (const Need& need : all)
    if (made_on(device, *need.calls)) result.push_back(need);
  return result;
}

std::vector<Need> needs(const std::vector<Calls>& all) {
  std::vector<Need> result;
  for (const Calls& calls : all) {
    for (const Call& call : calls.calls) {
      const Problem problem = problem_of(call, calls);
      const auto known =
          std::find_if(result.begin(), result.end(), [&](const Need& n) { return n.problem == problem; });
      if (known == result.end())
        result.push_back({problem, &calls, &call, call.count, cost_of(call, calls)});
      else if (!calls.fused.any() || known->calls == &calls)  // else the same call of the same stack
        known->count += call.count;
    }
  }
  return result;
}

}  // namespace hstujit
