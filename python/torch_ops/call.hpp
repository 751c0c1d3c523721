// One call of an operator: arguments off torch's stack, results onto it. Everything that came or was made is given back
// when the call ends, however it ends.
#pragma once

#include "argument.hpp"
#include "contexts.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace hstujit_torch {

/// Index into torch's stack of arguments, and the argument's name.
struct Place {
  int index;
  const char* name;
};

class Call {
 public:
  Call(const char* op, StableIValue* stack) : op_(op), stack_(stack) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  // ---- Arguments. Each is taken exactly once, before anything may throw: what is wrong with one, ready() says.
  Argument tensor(Place place) { return take(place, handle_at(place.index), false); }
  Argument tensor_or_none(Place place) { return take(place, optional_handle_at(place.index), false); }
  Argument written(Place place) { return take(place, handle_at(place.index), true); }
  Argument written_or_none(Place place) { return take(place, optional_handle_at(place.index), true); }
  std::vector<Argument> tensors(Place place);
  int64_t integer(Place place) const { return as<int64_t>(stack_[place.index]); }
  double number(Place place) const { return as<double>(stack_[place.index]); }
  bool flag(Place place) const { return as<bool>(stack_[place.index]); }
  int32_t dtype(Place place) const { return as<int32_t>(stack_[place.index]); }
  std::optional<int32_t> dtype_or_none(Place place) const;
  template <size_t n>
  std::array<bool, n> flags(Place place) {
    std::array<bool, n> out{};
    take_flags(place, out.data(), n);
    return out;
  }

  /// Throws what the arguments gave cause to: a tensor on another device than the first, one that is not strided, ...
  void ready() const;

  // ---- Results and memory
  /// A fresh contiguous tensor on the call's device.
  Argument fresh(const char* name, const Shape& shape, int32_t dtype);
  /// One without elements, in place of a result that is not wanted.
  Argument nothing(const char* name, int32_t dtype) { return fresh(name, {0}, dtype); }
  /// Memory aligned to 256 bytes that lives as long as the call; on the device it is stream-ordered. Null for 0 bytes.
  void* workspace(size_t bytes);

  hstu_context* context() const { return context_of(op_, cuda_, device_index_); }

  /// Calls the C function and refuses what it refuses.
  template <class Args>
  void run(hstu_status (*function)(hstu_context*, const Args*, hstu_stream), const void* args) const {
    hstu_context* const on = context();
    check(function(on, static_cast<const Args*>(args), cuda_ ? current_stream(op_, device_index_) : nullptr));
  }
  void check(hstu_status status) const {
    if (status != HSTU_OK) refuse_status(status);
  }

  /// The result of this index goes to torch.
  void give(int index, const Argument& result);

  const char* op() const { return op_; }

 private:
  template <class T>
  static T as(StableIValue value) {
    T out;
    std::memcpy(&out, &value, sizeof out);
    return out;
  }
  AtenTensorHandle handle_at(int index) const { return as<AtenTensorHandle>(stack_[index]); }
  AtenTensorHandle optional_handle_at(int index) const;
  void take_flags(Place place, bool* out, size_t n);
  Argument take(Place place, AtenTensorHandle handle, bool is_written);
  void keep(AtenTensorHandle handle);
  void look_at(Argument& argument, bool is_written);
  void look_at_device(const Argument& argument);
  [[noreturn]] void refuse_status(hstu_status status) const;

  const char* op_;
  StableIValue* stack_;
  // The first problem of an argument, which ready() throws.
  enum class Problem { none, torch, device, rank, dtype, list };
  Problem problem_ = Problem::none;
  const char* problem_name_ = nullptr;
  int64_t problem_value_ = 0;
  int32_t problem_device_type_ = 0, problem_device_index_ = 0;

  const char* device_name_ = nullptr;  ///< the argument that decided the device
  int32_t device_type_ = 0, device_index_ = 0;
  bool cuda_ = false;

  int owned_count_ = 0;
  std::array<AtenTensorHandle, 40> owned_;
  std::vector<AtenTensorHandle> owned_beyond_;  ///< of calls with lists
};

/// Writes a value where a C struct has it.
template <class T>
void put(void* args, size_t offset, const T& value) {
  std::memcpy(static_cast<char*>(args) + offset, &value, sizeof value);
}

/// torch's numbers of dtypes.
int32_t torch_f32();
int32_t torch_i32();

}  // namespace hstujit_torch
