// The operators as data: where each public args struct keeps its tensors, how it is checked and keyed, and its CPU
// reference. Everything that handles "any operator" (tuner, tool, goldens) goes through this table.
#pragma once

#include "problem/problem.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace hstujit {

enum class TensorRole : uint8_t {
  input,    ///< floating point, read
  integer,  ///< offsets, lengths: read, and decides which memory the kernel touches
  output,   ///< written completely (rows of sequences only, where the operator is jagged)
};

struct TensorSlot {
  std::string_view name;
  size_t offset;  ///< of the hstu_tensor in the args struct
  TensorRole role;
};

/// What one call costs at least, for rates: multiply-adds counted as two operations and mask-exact, each input byte
/// read once and each output byte written once.
struct Work {
  double flops = 0;
  double bytes = 0;
};

struct Operator {
  Op op;
  std::string_view name;
  size_t args_size;
  std::span<const TensorSlot> tensors;

  /// Fills strides and defaults in place and checks all that can be checked without reading tensor contents; throws
  /// Error naming the field. Returns the key. Part of the hot path: no heap, no strings unless it fails.
  Problem (*prepare)(void* args);

  /// The reference, on tensors in host memory, args prepared: double precision, one rounding at the store. Checks what
  /// the device path cannot (offsets not decreasing, targets not negative). Throws Error.
  void (*reference)(const void* args);

  /// args prepared; integer tensors must be readable by the host (copies will do), others are not read.
  Work (*work)(const void* args);
};

std::span<const Operator> operators();
const Operator& operator_of(Op op);

inline hstu_tensor& tensor_at(void* args, const TensorSlot& slot) {
  return *reinterpret_cast<hstu_tensor*>(static_cast<std::byte*>(args) + slot.offset);
}
inline const hstu_tensor& tensor_at(const void* args, const TensorSlot& slot) {
  return *reinterpret_cast<const hstu_tensor*>(static_cast<const std::byte*>(args) + slot.offset);
}

/// An absent tensor is all zero.
inline bool present(const hstu_tensor& t) { return t.dtype != HSTU_DTYPE_NONE; }
/// Bytes from data to the end of the last element.
int64_t extent_bytes(const hstu_tensor& t);

// The typed forms behind the table.
Problem prepare(hstu_layer_norm_args& args);
Problem prepare(hstu_addmm_args& args);
Problem prepare(hstu_attention_args& args);
Problem prepare(hstu_norm_mul_args& args);

}  // namespace hstujit
