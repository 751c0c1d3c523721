// A call spelled out by a workload file, tensor by tensor, put into the operator's args struct.
#include "support/error.hpp"
#include "workload/call_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hstujit {
namespace {

#define HSTUJIT_SIZED(op, args_type, function) \
  case Op::op: {                               \
    args_type args{};                          \
    args.struct_size = sizeof args;            \
    return args;                               \
  }
AnyArgs empty_args(Op op) {
  switch (op) { HSTUJIT_OPERATOR_MAP(HSTUJIT_SIZED) }
  return {};
}
#undef HSTUJIT_SIZED

using Lists = std::vector<std::pair<std::string, std::vector<int64_t>>>;  ///< drawn lengths by tensor

int64_t value_of(const Extent::Term& term, const Lists& drawn) {
  if (term.kind == Extent::Term::Kind::number) return term.number;
  const auto list = std::find_if(drawn.begin(), drawn.end(), [&](const auto& d) { return d.first == term.tensor; });
  if (list == drawn.end())
    fail(HSTU_ERROR_INVALID_ARGUMENT, "\"{}\" holds no lengths; name an integer tensor of this entry", term.tensor);
  const std::vector<int64_t>& lengths = list->second;
  if (term.kind == Extent::Term::Kind::batch) return static_cast<int64_t>(lengths.size());
  if (term.kind == Extent::Term::Kind::total) return std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

int64_t value_of(const Extent& extent, const Lists& drawn) {
  int64_t sum = 0;
  for (const Extent::Term& term : extent.terms)
    if (__builtin_add_overflow(sum, value_of(term, drawn), &sum))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "a sum of {} terms overflows 64 bits", extent.terms.size());
  return sum;
}

std::vector<int64_t> extents(const std::vector<Extent>& shape, const Lists& drawn) {
  std::vector<int64_t> out;
  for (const Extent& extent : shape) out.push_back(value_of(extent, drawn));
  return out;
}

std::vector<int64_t> contents(const TensorSpec::Integers& integers, const std::vector<int64_t>& lengths) {
  if (!integers.offsets) return lengths;
  std::vector<int64_t> offsets{0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

float deviation_of(const TensorSpec& spec, const TensorSlot& slot, const std::vector<int64_t>& shape) {
  if (spec.scale) return *spec.scale;
  if (slot.fan_in < 0 || slot.fan_in >= static_cast<int>(shape.size())) return 1;
  return 1 / std::sqrt(static_cast<float>(std::max<int64_t>(shape[static_cast<size_t>(slot.fan_in)], 1)));
}

/// From the first element to the last one.
int64_t reach_of(const TensorSpec& spec, const std::vector<int64_t>& shape) {
  int64_t reach = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t along = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(shape[d] - 1, 0), spec.stride[d], &along) ||
        __builtin_add_overflow(reach, along, &reach))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "\"{}\": its shape and strides overflow 64 bits", spec.name);
  }
  return reach;
}

/// A tensor of elements. Strides beyond the shape take a longer buffer.
/// filled: an output that is added to.
Placed place(const TensorSpec& spec, const TensorSlot& slot, bool filled, const Lists& drawn, CallBuilder& build) {
  const std::vector<int64_t> shape = extents(spec.shape, drawn);
  std::vector<int64_t> room = shape;
  if (!spec.stride.empty()) { room = {reach_of(spec, shape) + 1}; }
  Placed placed =
      slot.role == TensorRole::output && !filled
          ? build.output(spec.name, spec.dtype, room)
          : build.input(spec.name, spec.dtype, room, spec.mean.value_or(0), deviation_of(spec, slot, shape));
  placed.tensor.rank = static_cast<int16_t>(shape.size());
  std::copy(shape.begin(), shape.end(), placed.tensor.shape);
  std::copy(spec.stride.begin(), spec.stride.end(), placed.tensor.stride);
  if (!spec.stride.empty()) placed.tensor.flags = HSTU_STRIDES_GIVEN;
  return placed;
}

/// A tensor of integers: a vector, or the vector's numbers in another shape.
Placed place_integers(const TensorSpec& spec, const Lists& drawn, CallBuilder& build) {
  const auto& lengths =
      std::find_if(drawn.begin(), drawn.end(), [&](const auto& d) { return d.first == spec.name; })->second;
  std::vector<int64_t> numbers = contents(*spec.integers, lengths);
  const auto count = static_cast<int64_t>(numbers.size());
  Placed placed = build.integers(spec.name, spec.dtype, std::move(numbers));
  if (spec.shape.empty()) return placed;
  const std::vector<int64_t> shape = extents(spec.shape, drawn);
  const int64_t elements = elements_of(spec.name, shape);
  if (elements != count)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "\"{}\" holds {} numbers for a shape of {}", spec.name, count, elements);
  placed.tensor.rank = static_cast<int16_t>(shape.size());
  std::copy(shape.begin(), shape.end(), placed.tensor.shape);
  std::fill_n(placed.tensor.stride, shape.size(), 0);  // contiguous
  return placed;
}

/// As much as the args, whose tensors are there, need.
Place place_workspace(const WorkspaceSlot& slot, void* args, CallBuilder& build) {
  const size_t bytes = slot.bytes(args);
  workspace_size_at(args, slot) = bytes;
  if (bytes == 0) return {};
  return build.output("workspace", HSTU_DTYPE_F32, {static_cast<int64_t>(bytes / sizeof(float))}).place;
}

void set(const ScalarSlot& slot, const CallSpec::Scalar& scalar, const Lists& drawn, void* args) {
  std::byte* const at = static_cast<std::byte*>(args) + slot.offset;
  if (slot.kind == ScalarSlot::Kind::f32) {
    std::memcpy(at, &scalar.number, sizeof scalar.number);
    return;
  }
  if (slot.kind == ScalarSlot::Kind::f64) {
    const double wide = static_cast<double>(scalar.number);
    std::memcpy(at, &wide, sizeof wide);
    return;
  }
  const int64_t wide = value_of(*scalar.extent, drawn);
  const auto narrow = static_cast<int32_t>(wide);
  if (slot.kind == ScalarSlot::Kind::i64) {
    std::memcpy(at, &wide, sizeof wide);
  } else {
    if (narrow != wide) fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: it must fit 32 bits", slot.name, wide);
    std::memcpy(at, &narrow, sizeof narrow);
  }
}

}  // namespace

Call spelled_call(const CallSpec& spec, CallBuilder& build) {
  Lists drawn;
  for (const TensorSpec& tensor : spec.tensors)
    if (tensor.integers) drawn.emplace_back(tensor.name, draw(tensor.integers->lengths, tensor.integers->batch));

  Call call;
  call.op = spec.op;
  call.args = empty_args(spec.op);
  const Operator& entry = operator_of(spec.op);
  for (const CallSpec::Scalar& scalar : spec.scalars)
    for (const ScalarSlot& slot : entry.scalars)
      if (slot.name == scalar.name) set(slot, scalar, drawn, address(call.args));
  for (const TensorSlot& slot : entry.tensors) {
    const auto given =
        std::find_if(spec.tensors.begin(), spec.tensors.end(), [&](const auto& t) { return t.name == slot.name; });
    Placed placed;
    if (given != spec.tensors.end() && given->integers) {
      placed = place_integers(*given, drawn, build);
    } else if (given != spec.tensors.end()) {
      placed = place(*given, slot, adds_to(entry, slot, address(call.args)), drawn, build);
    }
    tensor_at(address(call.args), slot) = placed.tensor;
    call.places.push_back(placed.place);
  }
  if (entry.workspace) call.workspace = place_workspace(*entry.workspace, address(call.args), build);
  return call;
}

}  // namespace hstujit
