#include "call.hpp"

#include <algorithm>
#include <limits>

namespace hstujit_torch {
namespace {

/// torch's numbers of dtypes and devices, asked for once.
struct Numbers {
  std::array<hstu_dtype, 128> dtypes{};
  int32_t cpu = aoti_torch_device_type_cpu(), cuda = aoti_torch_device_type_cuda();
  int32_t f32 = aoti_torch_dtype_float32(), i32 = aoti_torch_dtype_int32(), u8 = aoti_torch_dtype_uint8();

  Numbers() {
    set(f32, HSTU_DTYPE_F32);
    set(aoti_torch_dtype_float16(), HSTU_DTYPE_F16);
    set(aoti_torch_dtype_bfloat16(), HSTU_DTYPE_BF16);
    set(aoti_torch_dtype_float64(), HSTU_DTYPE_F64);
    set(i32, HSTU_DTYPE_I32);
    set(aoti_torch_dtype_int64(), HSTU_DTYPE_I64);
    set(aoti_torch_dtype_float8_e4m3fn(), HSTU_DTYPE_E4M3);
    set(aoti_torch_dtype_float8_e5m2(), HSTU_DTYPE_E5M2);
    // Copies move what hstu_dtype lacks by its size.
    set(u8, HSTU_DTYPE_U8);
    set(aoti_torch_dtype_int8(), HSTU_DTYPE_U8);
    set(aoti_torch_dtype_bool(), HSTU_DTYPE_U8);
    set(aoti_torch_dtype_int16(), HSTU_DTYPE_I16);
    set(aoti_torch_dtype_uint16(), HSTU_DTYPE_I16);
  }
  hstu_dtype of(int32_t dtype) const {
    return dtype >= 0 && static_cast<size_t>(dtype) < dtypes.size() ? dtypes[static_cast<size_t>(dtype)]
                                                                    : HSTU_DTYPE_NONE;
  }

 private:
  void set(int32_t dtype, hstu_dtype is) { dtypes.at(static_cast<size_t>(dtype)) = is; }
};

const Numbers& numbers() {
  static const Numbers all;
  return all;
}

/// What no operator takes, by the name that torch has for it.
std::string name_of_other(int32_t dtype) {
  if (dtype == aoti_torch_dtype_complex32()) return "complex32";
  if (dtype == aoti_torch_dtype_complex64()) return "complex64";
  if (dtype == aoti_torch_dtype_complex128()) return "complex128";
  if (dtype == aoti_torch_dtype_uint32()) return "uint32";
  if (dtype == aoti_torch_dtype_uint64()) return "uint64";
  if (dtype == aoti_torch_dtype_float8_e4m3fnuz()) return "float8_e4m3fnuz";
  if (dtype == aoti_torch_dtype_float8_e5m2fnuz()) return "float8_e5m2fnuz";
  return "of torch's number " + std::to_string(dtype);
}

constexpr size_t kWorkspaceAlignment = 256;

}  // namespace

int32_t torch_f32() { return numbers().f32; }
int32_t torch_i32() { return numbers().i32; }

Call::~Call() {
  for (int i = 0; i < owned_count_; ++i) aoti_torch_delete_tensor_object(owned_[static_cast<size_t>(i)]);
  for (AtenTensorHandle handle : owned_beyond_) aoti_torch_delete_tensor_object(handle);
}

void Call::keep(AtenTensorHandle handle) {
  if (static_cast<size_t>(owned_count_) < owned_.size())
    owned_[static_cast<size_t>(owned_count_++)] = handle;
  else
    owned_beyond_.push_back(handle);
}

// An optional argument is null, or a value of its own on the heap, which is the callee's.
AtenTensorHandle Call::optional_handle_at(int index) const {
  auto* const inner = as<StableIValue*>(stack_[index]);
  if (!inner) return nullptr;
  const auto handle = as<AtenTensorHandle>(*inner);
  delete inner;
  return handle;
}

std::optional<int32_t> Call::dtype_or_none(Place place) const {
  auto* const inner = as<StableIValue*>(stack_[place.index]);
  if (!inner) return {};
  const auto dtype = as<int32_t>(*inner);
  delete inner;
  return dtype;
}

Argument Call::take(Place place, AtenTensorHandle handle, bool is_written) {
  Argument out(op_, place.name);
  if (!handle) return out;
  keep(handle);
  out.handle = handle;
  look_at(out, is_written);
  return out;
}

std::vector<Argument> Call::tensors(Place place) {
  const auto list = as<StableListHandle>(stack_[place.index]);
  size_t count = 0;
  bool read = torch_list_size(list, &count) == 0;
  std::vector<Argument> out;
  out.reserve(count);
  for (size_t i = 0; read && i < count; ++i) {
    StableIValue item = 0;
    read = torch_list_get_item(list, i, &item) == 0;
    if (read) out.push_back(take(place, as<AtenTensorHandle>(item), false));
  }
  read &= torch_delete_list(list) == 0;
  if (!read && problem_ == Problem::none) problem_ = Problem::list, problem_name_ = place.name;
  return out;
}

void Call::take_flags(Place place, bool* out, size_t n) {
  const auto list = as<StableListHandle>(stack_[place.index]);
  size_t count = 0;
  bool read = torch_list_size(list, &count) == 0 && count == n;
  for (size_t i = 0; read && i < n; ++i) {
    StableIValue item = 0;
    read = torch_list_get_item(list, i, &item) == 0;
    out[i] = read && as<bool>(item);
  }
  read &= torch_delete_list(list) == 0;
  if (!read && problem_ == Problem::none) problem_ = Problem::list, problem_name_ = place.name;
}

void Call::look_at_device(const Argument& argument) {
  int32_t type = 0, index = 0;
  if (aoti_torch_get_device_type(argument.handle, &type) != 0 ||
      aoti_torch_get_device_index(argument.handle, &index) != 0) {
    problem_ = Problem::torch, problem_name_ = argument.name();
    return;
  }
  if (!device_name_) {
    device_name_ = argument.name();
    device_type_ = type;
    device_index_ = index;
    cuda_ = type == numbers().cuda;
  }
  if (type == device_type_ && (index == device_index_ || type == numbers().cpu)) return;
  problem_ = Problem::device, problem_name_ = argument.name();
  problem_device_type_ = type, problem_device_index_ = index;
}

void Call::look_at(Argument& argument, bool is_written) {
  if (problem_ != Problem::none) return;
  look_at_device(argument);
  if (problem_ != Problem::none) return;
  int64_t rank = 0;
  int64_t *sizes = nullptr, *strides = nullptr;
  if (aoti_torch_get_dim(argument.handle, &rank) != 0 || aoti_torch_get_sizes(argument.handle, &sizes) != 0 ||
      aoti_torch_get_strides(argument.handle, &strides) != 0 ||
      aoti_torch_get_dtype(argument.handle, &argument.dtype) != 0) {
    problem_ = Problem::torch, problem_name_ = argument.name();
    return;
  }
  if (rank > HSTU_MAX_RANK || rank < 1) {
    problem_ = Problem::rank, problem_name_ = argument.name(), problem_value_ = rank;
    return;
  }
  hstu_tensor& view = argument.view;
  view.dtype = numbers().of(argument.dtype);
  if (view.dtype == HSTU_DTYPE_NONE) {
    problem_ = Problem::dtype, problem_name_ = argument.name(), problem_value_ = argument.dtype;
    return;
  }
  view.rank = static_cast<int16_t>(rank);
  view.flags = HSTU_STRIDES_GIVEN;
  std::copy_n(sizes, rank, view.shape);
  std::copy_n(strides, rank, view.stride);
  // A read of the pointer alone leaves copy-on-write tensors as they are.
  const void* data = nullptr;
  const auto error = is_written ? torch_get_mutable_data_ptr(argument.handle, &view.data)
                                : torch_get_const_data_ptr(argument.handle, &data);
  if (!is_written) view.data = const_cast<void*>(data);
  if (error != 0) problem_ = Problem::torch, problem_name_ = argument.name();
}

void Call::ready() const {
  const auto device = [](int32_t type, int32_t index) {
    if (type == numbers().cpu) return std::string("cpu");
    if (type == numbers().cuda) return "cuda:" + std::to_string(index);
    return "a device of torch's type " + std::to_string(type);
  };
  switch (problem_) {
    case Problem::none:
      break;
    case Problem::torch:
      refuse(op_, HSTU_ERROR_INVALID_ARGUMENT, problem_name_, ": a strided tensor with memory of its own is needed");
    case Problem::device:
      refuse(op_, HSTU_ERROR_INVALID_ARGUMENT, problem_name_, " is on ",
             device(problem_device_type_, problem_device_index_), ", but ", device_name_, " is on ",
             device(device_type_, device_index_), ": all tensors of a call lie on one device");
    case Problem::rank:
      refuse(op_, HSTU_ERROR_SHAPE_MISMATCH, problem_name_, " has ", problem_value_, " dimensions: 1 to ",
             HSTU_MAX_RANK, " are possible");
    case Problem::dtype:
      refuse(op_, HSTU_ERROR_UNSUPPORTED_DTYPE, problem_name_, " has the dtype ",
             name_of_other(static_cast<int32_t>(problem_value_)), ", which no operator takes");
    case Problem::list:
      refuse(op_, HSTU_ERROR_INVALID_ARGUMENT, problem_name_, ": a list of another length is needed");
  }
  if (!device_name_) refuse(op_, HSTU_ERROR_INVALID_ARGUMENT, "a tensor is needed, whose device the call runs on");
}

Argument Call::fresh(const char* name, const Shape& shape, int32_t dtype) {
  Argument out(op_, name);
  int64_t strides[HSTU_MAX_RANK];
  int64_t below = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    if (shape.extents[i] < 0)
      refuse(op_, HSTU_ERROR_SHAPE_MISMATCH, name, " would have the extent ", shape.extents[i], " in dimension ", i);
    strides[i] = below;
    below *= std::max<int64_t>(shape.extents[i], 1);
  }
  if (numbers().of(dtype) == HSTU_DTYPE_NONE)
    refuse(op_, HSTU_ERROR_UNSUPPORTED_DTYPE, name, " would have the dtype ", name_of_other(dtype),
           ", which no operator writes");
  if (aoti_torch_empty_strided(shape.rank, shape.extents, strides, dtype, device_type_, device_index_, &out.handle) !=
      0)
    refuse(op_, HSTU_ERROR_OUT_OF_MEMORY, "torch has no memory for ", name);
  keep(out.handle);
  out.dtype = dtype;
  hstu_tensor& view = out.view;
  view.dtype = numbers().of(dtype);
  view.rank = static_cast<int16_t>(shape.rank);
  view.flags = HSTU_STRIDES_GIVEN;
  std::copy_n(shape.extents, shape.rank, view.shape);
  std::copy_n(strides, shape.rank, view.stride);
  if (torch_get_mutable_data_ptr(out.handle, &view.data) != 0)
    refuse(op_, HSTU_ERROR_OUT_OF_MEMORY, "torch has no memory for ", name);
  return out;
}

void* Call::workspace(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > static_cast<size_t>(std::numeric_limits<int64_t>::max()) - kWorkspaceAlignment)
    refuse(op_, HSTU_ERROR_OUT_OF_MEMORY, "a workspace of ", bytes, " bytes is needed");
  const Argument memory = fresh("workspace", {static_cast<int64_t>(bytes + kWorkspaceAlignment)}, numbers().u8);
  const auto address = reinterpret_cast<uintptr_t>(memory.view.data);
  return reinterpret_cast<void*>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment);
}

void Call::give(int index, const Argument& result) {
  // It stands among the last that were kept, and is torch's from here on.
  AtenTensorHandle* const end = owned_.data() + owned_count_;
  AtenTensorHandle* const at = std::find(owned_.data(), end, result.handle);
  if (at != end) {
    *at = owned_[static_cast<size_t>(--owned_count_)];
  } else {
    owned_beyond_.erase(std::find(owned_beyond_.begin(), owned_beyond_.end(), result.handle));
  }
  StableIValue value = 0;
  std::memcpy(&value, &result.handle, sizeof result.handle);
  stack_[index] = value;
}

void Call::refuse_status(hstu_status status) const {
  const char* const more =
      status == HSTU_ERROR_STREAM_CAPTURING || status == HSTU_ERROR_NOT_READY
          ? "; call it once before, on tensors of these shapes, or prepare its kernel with hstujit.warm()"
          : "";
  refuse(op_, status, hstu_last_error(), more);
}

}  // namespace hstujit_torch
