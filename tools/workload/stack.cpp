#include "workload/stack.hpp"

#include "support/error.hpp"
#include "tuner/values.hpp"

#include <algorithm>

namespace hstujit {
namespace {

/// Random elements made on the host per buffer; prime, so that rows differ for a million rows.
constexpr int64_t kPeriod = 1'000'003;

/// Continues the first `period` bytes periodically up to `total`, doubling what is there.
void repeat(Memory& memory, void* base, size_t period, size_t total) {
  auto* bytes = static_cast<std::byte*>(base);
  for (size_t done = period; done < total;) {
    const size_t part = std::min(done, total - done);
    memory.copy(bytes + done, bytes, part);
    done += part;
  }
}

}  // namespace

hstu_status call_operator(hstu_context* context, Op op, const void* args, hstu_stream stream) {
  switch (op) {
#define HSTUJIT_CALL(op, args_type, function) \
  case Op::op:                                \
    return function(context, static_cast<const args_type*>(args), stream);
    HSTUJIT_OPERATOR_MAP(HSTUJIT_CALL)
#undef HSTUJIT_CALL
  }
  return HSTU_ERROR_INTERNAL;
}

Stack::Stack(const Calls& calls, Memory& memory, uint64_t seed) : calls_(calls), memory_(memory) {
  for (const Buffer& buffer : calls_.buffers) {
    bases_.push_back(memory.allocate(static_cast<size_t>(buffer.bytes())));
    fill(buffer, bases_.back(), seed);
  }
  memory.synchronise();  // whatever stream the calls run on, they find everything in place
  for (const Call& call : calls_.setup) setup_.push_back(placed_args(call, calls_, bases_));
  for (const Call& call : calls_.calls) bound_.push_back(placed_args(call, calls_, bases_));
}

void Stack::fill(const Buffer& buffer, void* base, uint64_t seed) {
  if (buffer.elements == 0 || buffer.content == Buffer::Content::nothing) return;
  const std::vector<std::byte> first =
      buffer.content == Buffer::Content::integers
          ? encode(buffer.list, buffer.dtype)
          : random_elements(buffer.name, buffer.random(), std::min(buffer.elements, kPeriod), seed);
  memory_.upload(base, first.data(), first.size());
  repeat(memory_, base, first.size(), static_cast<size_t>(buffer.bytes()));
}

void Stack::run(const Call& call, const AnyArgs& args, hstu_context* context, hstu_stream stream) {
  const hstu_status status = call_operator(context, call.op, address(args), stream);
  if (status != HSTU_OK) fail(status, "{}: {}", call.name, hstu_last_error());
}

void Stack::set_up(hstu_context* context, hstu_stream stream) const {
  for (size_t i = 0; i < setup_.size(); ++i) run(calls_.setup[i], setup_[i], context, stream);
}

void Stack::run(size_t index, hstu_context* context, hstu_stream stream) const {
  run(calls_.calls[index], bound_[index], context, stream);
}

void Stack::run(hstu_context* context, hstu_stream stream) const {
  for (size_t i = 0; i < size(); ++i) run(i, context, stream);
}

size_t Stack::index_of(std::string_view name) const {
  const int index = calls_.find(name);
  if (index < 0) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: {} has no such buffer", name, calls_.name);
  return static_cast<size_t>(index);
}

void* Stack::base(std::string_view name) const { return bases_[index_of(name)]; }

std::vector<double> Stack::read(std::string_view name) const {
  const Buffer& buffer = calls_.buffers[index_of(name)];
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes()));
  memory_.synchronise();
  if (!bytes.empty()) memory_.download(bytes.data(), base(name), bytes.size());
  return decode(bytes, buffer.dtype);
}

std::vector<double> Stack::result() const { return read(calls_.buffers[static_cast<size_t>(calls_.result)].name); }

}  // namespace hstujit
