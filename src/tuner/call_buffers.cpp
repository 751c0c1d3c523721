#include "tuner/call_buffers.hpp"

#include "support/element.hpp"
#include "support/error.hpp"
#include "tuner/compare.hpp"
#include "tuner/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

/// Random elements made on the host per tensor; what lies behind repeats them. Prime, so that rows differ for long.
constexpr int64_t kPeriod = 1'000'003;

/// Standard deviation that keeps results near 1: weights of a product are scaled by its depth.
float deviation_of(const TensorSlot& slot, const hstu_tensor& t) {
  return slot.fan_in < 0 ? 1.0f : 1.0f / std::sqrt(static_cast<float>(std::max<int64_t>(t.shape[slot.fan_in], 1)));
}

/// Calls body with the element offset of every element, in row-major order.
template <class Body>
void for_each_element(const hstu_tensor& t, const Body& body) {
  int64_t count = 1;
  for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, rest = i;
    for (int d = t.rank - 1; d >= 0; rest /= t.shape[d--]) offset += rest % t.shape[d] * t.stride[d];
    body(offset);
  }
}

hstu_tensor with_data(const hstu_tensor& t, const std::byte* data) {
  hstu_tensor view = t;
  view.data = const_cast<std::byte*>(data);
  return view;
}

}  // namespace

CallBuffers::CallBuffers(const Driver& driver, const Operator& op, const void* args, CUstream stream, uint64_t seed)
    : driver_(driver), op_(op), stream_(stream) {
  make_float_buffers(args, seed);
  for (Case& shape : cases_) {
    const auto* bytes = static_cast<const std::byte*>(args);
    shape.args.assign(bytes, bytes + op.args_size);
    read_integers(shape, args);
  }
  op_.edge_case(cases_[kEdge].args.data(), cases_[kEdge].integers);
  for (Case& shape : cases_) place(shape);
}

void CallBuffers::make_float_buffers(const void* args, uint64_t seed) {
  for (const TensorSlot& slot : op_.tensors) {
    const hstu_tensor& t = tensor_at(args, slot);
    const bool wanted = present(t) && slot.role != TensorRole::integer;
    const std::string what = fmt::format("buffer for {} of {}", slot.name, op_.name);
    buffers_.emplace_back(driver_, wanted ? static_cast<size_t>(extent_bytes(t)) : 0, what.c_str());
    if (wanted && slot.role == TensorRole::input) fill(slot, t, buffers_.back(), seed);
    const bool adds = wanted && adds_to(op_, slot, args);
    before_.emplace_back(driver_, adds ? buffers_.back().bytes() : 0, what.c_str());
    if (adds) fill(slot, t, before_.back(), seed);
  }
  if (op_.workspace) workspace_ = DeviceBuffer(driver_, op_.workspace->bytes(args), "workspace");
}

void CallBuffers::fill(const TensorSlot& slot, const hstu_tensor& t, const DeviceBuffer& buffer, uint64_t seed) const {
  const RandomElements what{.dtype = t.dtype, .deviation = deviation_of(slot, t)};
  const int64_t elements = static_cast<int64_t>(buffer.bytes()) / size_of(t.dtype);
  const auto first = random_elements(slot.name, what, std::min(elements, kPeriod), seed);
  buffer.upload(first.data(), first.size());
  for (size_t done = first.size(); done > 0 && done < buffer.bytes();) {
    const size_t part = std::min(done, buffer.bytes() - done);
    driver_.check(driver_.cuMemcpyDtoDAsync(buffer.address() + done, buffer.address(), part, stream_),
                  "filling an input");
    done += part;
  }
}

void CallBuffers::read_integers(Case& shape, const void* args) {
  shape.integers.resize(op_.tensors.size());
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot) {
    const hstu_tensor& t = tensor_at(args, op_.tensors[slot]);
    if (op_.tensors[slot].role != TensorRole::integer || !present(t)) continue;
    std::vector<std::byte> bytes(static_cast<size_t>(extent_bytes(t)));
    if (!bytes.empty())
      driver_.check(driver_.cuMemcpyDtoH(bytes.data(), reinterpret_cast<CUdeviceptr>(t.data), bytes.size()),
                    fmt::format("reading {} of {}", op_.tensors[slot].name, op_.name).c_str());
    const hstu_tensor host = with_data(t, bytes.data());
    for_each_element(t, [&](int64_t offset) { shape.integers[slot].push_back(integer_at(host, offset)); });
  }
}

/// Gives the tensors of a shape their memory; integers become contiguous.
void CallBuffers::place(Case& shape) {
  shape.device.resize(op_.tensors.size());
  shape.host.resize(op_.tensors.size());
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot) {
    hstu_tensor& t = tensor(shape, slot);
    if (!present(t)) continue;
    t.data = buffers_[slot].data();
    if (op_.tensors[slot].role != TensorRole::integer) continue;
    shape.host[slot] = encode(shape.integers[slot], t.dtype);
    shape.device[slot] = DeviceBuffer(driver_, shape.host[slot].size(), "buffer for integers");
    shape.device[slot].upload(shape.host[slot].data(), shape.host[slot].size());
    t.data = shape.device[slot].data();
    for (int64_t d = t.rank - 1, stride = 1; d >= 0; stride *= t.shape[d--]) t.stride[d] = stride;
  }
  if (!op_.workspace) return;
  workspace_at(shape.args.data(), *op_.workspace) = workspace_.data();
  workspace_size_at(shape.args.data(), *op_.workspace) = workspace_.bytes();
}

bool CallBuffers::is_output(size_t slot) const {
  return op_.tensors[slot].role == TensorRole::output && present(tensor(cases_[kAsCalled], slot));
}

bool CallBuffers::is_accumulated(size_t slot) const { return is_output(slot) && before_[slot].bytes() > 0; }

void CallBuffers::poison() const {
  const auto fill_with_ones = [&](const DeviceBuffer& buffer) {  // NaN in every type
    if (buffer.bytes() > 0)
      driver_.check(driver_.cuMemsetD8Async(buffer.address(), 0xff, buffer.bytes(), stream_), "poisoning an output");
  };
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot)
    if (is_output(slot) && !is_accumulated(slot)) fill_with_ones(buffers_[slot]);
  fill_with_ones(workspace_);
  restore();
}

void CallBuffers::restore() const {
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot)
    if (is_accumulated(slot))
      driver_.check(
          driver_.cuMemcpyDtoDAsync(buffers_[slot].address(), before_[slot].address(), before_[slot].bytes(), stream_),
          "restoring an output");
}

void CallBuffers::read_outputs(Outputs& into) const {
  driver_.check(driver_.cuStreamSynchronize(stream_), "waiting for a candidate");
  size_t output = 0;
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot) {
    if (!is_output(slot)) continue;
    if (output == into.size()) into.emplace_back(driver_, buffers_[slot].bytes());
    buffers_[slot].download(into[output].data(), into[output].bytes());
    ++output;
  }
}

/// How many products an element of an output is the sum of, where it grows with the call.
int64_t CallBuffers::terms_of(Shape shape, size_t slot) const {
  const int over = op_.tensors[slot].sums_over;
  return over < 0 ? 0 : tensor(cases_[shape], static_cast<size_t>(over)).shape[0];
}

std::string CallBuffers::difference(Shape shape, const Outputs& expected, const Outputs& actual) const {
  size_t output = 0;
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot) {
    if (!is_output(slot)) continue;
    const hstu_tensor& t = tensor(cases_[shape], slot);
    const int rounded = op_.tensors[slot].of_rounded;
    const hstu_dtype dtype = rounded < 0 ? t.dtype : tensor(cases_[shape], static_cast<size_t>(rounded)).dtype;
    const auto found = hstujit::difference(with_data(t, expected[output].data()), with_data(t, actual[output].data()),
                                           tolerance_of(op_.op, dtype, terms_of(shape, slot)));
    if (!found.empty())
      return fmt::format("{}{}: {}", op_.tensors[slot].name, shape == kEdge ? " of the edge case" : "", found);
    ++output;
  }
  return {};
}

bool CallBuffers::has_results(Shape shape, const Outputs& outputs) const {
  size_t output = 0;
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot)
    if (is_output(slot) && !hstujit::has_results(with_data(tensor(cases_[shape], slot), outputs[output++].data())))
      return false;
  return true;
}

/// The args with integer tensors in host memory.
std::vector<std::byte> CallBuffers::host_args(Shape shape) const {
  std::vector<std::byte> args = cases_[shape].args;
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot)
    if (op_.tensors[slot].role == TensorRole::integer) {
      hstu_tensor& t = tensor_at(args.data(), op_.tensors[slot]);
      if (present(t)) t.data = const_cast<std::byte*>(cases_[shape].host[slot].data());
    }
  return args;
}

Cost CallBuffers::cost(Shape shape) const { return op_.cost(host_args(shape).data()); }

Outputs CallBuffers::reference(Shape shape) const {
  std::vector<std::byte> args = host_args(shape);
  std::vector<std::vector<std::byte>> copies(op_.tensors.size());
  Outputs out;
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot) {
    hstu_tensor& t = tensor_at(args.data(), op_.tensors[slot]);
    if (!present(t) || op_.tensors[slot].role == TensorRole::integer) continue;
    const bool output = op_.tensors[slot].role == TensorRole::output;
    copies[slot].assign(buffers_[slot].bytes(), std::byte{0xff});
    const DeviceBuffer& from = output ? before_[slot] : buffers_[slot];
    if (from.bytes() > 0) from.download(copies[slot].data(), copies[slot].size());
    t.data = copies[slot].data();
  }
  op_.reference(args.data(), nullptr);
  for (size_t slot = 0; slot < op_.tensors.size(); ++slot)
    if (is_output(slot))
      std::copy(copies[slot].begin(), copies[slot].end(), out.emplace_back(driver_, copies[slot].size()).data());
  return out;
}

}  // namespace hstujit
