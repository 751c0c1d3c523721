// The operators as data: where each public args struct keeps its tensors and attributes, how it is checked and keyed,
// and its CPU reference. Everything that handles "any operator" (tuner, tool, goldens) goes through this table. An
// operator is a line in operator_map.hpp, the typed functions declared below, which its room has in <op>.cpp, its key
// in <op>.hpp beside them, and a family or more in families/.
#pragma once

#include "operators/forms.hpp"
#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

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
  TensorForm form;
  /// A dimension that the operator sums over, so that random elements are scaled by the root of its extent; -1 none.
  int fan_in = -1;
  /// The slot of an output in whose elements this one's are counted, rounded as they are; -1 none.
  int of_rounded = -1;
  /// Of an output: the slot of a tensor over whose first dimension its elements are sums; -1 none.
  int sums_over = -1;
  /// Of an output: where the call's OperatorFacts::accumulate is 1, its elements are added to what is there.
  bool accumulates = false;
};

/// Memory of the caller's for what a call keeps while it runs: address and size in the args struct. Its contents are
/// arbitrary before a call and after it.
struct WorkspaceSlot {
  size_t address, size;               ///< offsets of a void* and a size_t
  size_t (*bytes)(const void* args);  ///< that prepared args need, on any device and in any configuration; 0: none
};
constexpr size_t kWorkspaceAlignment = 256;

/// An attribute of the args struct. words: names of the values 0, 1, ... of an enum; empty for numbers.
struct ScalarSlot {
  enum class Kind : uint8_t { f32, f64, i32, i64 };
  std::string_view name;
  size_t offset;
  Kind kind;
  std::span<const std::string_view> words = {};
  Zero zero = {};
};

/// The slots of one struct: an operator's own, and those of a group of options that several operators share.
template <size_t M, size_t N>
constexpr std::array<ScalarSlot, M + N> joined(const ScalarSlot (&own)[M], const std::array<ScalarSlot, N>& shared) {
  std::array<ScalarSlot, M + N> all{};
  std::ranges::copy(own, all.begin());
  std::ranges::copy(shared, all.begin() + M);
  return all;
}

inline constexpr std::string_view kFp8ScalingWords[] = {"tensor", "row", "group", "block"};
inline constexpr std::string_view kActivationWords[] = {"none", "silu", "sigmoid", "gelu", "gelu_tanh"};

/// What an operator is made of. Spans of static arrays.
struct OperatorFacts {
  std::span<const FieldInfo> fields;  ///< of its key, in the order of its field enum
  std::span<const TensorSlot> tensors;
  std::span<const ScalarSlot> scalars;
  const WorkspaceSlot* workspace = nullptr;  ///< null: calls need none
  const ScalarSlot* accumulate = nullptr;    ///< an i32 of 0 or 1; null: no output accumulates
};

/// Contents of the integer tensors, in the order of Operator::tensors; empty for the others.
using Integers = std::vector<std::vector<int64_t>>;

/// What one call costs at least, for rates: multiply-adds counted as two operations and mask-exact, each input byte
/// read once and each output byte written once.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

struct Operator : OperatorFacts {
  Op op;
  std::string_view name;
  size_t args_size;

  /// Fills strides and defaults in place and checks all that can be checked without reading tensor contents; throws
  /// Error naming the field. Returns the key. Part of the hot path: no heap, no strings unless it fails.
  Problem (*prepare)(void* args);

  /// The reference, on tensors in host memory, args prepared: double precision, one rounding at the store. Checks what
  /// the device path cannot (offsets not decreasing, targets not negative). Throws Error.
  /// exact: null, or a buffer per output slot, in their order: then outputs are left alone (their data may be anything)
  /// and unrounded values go there, row-major in the output's shape; a null buffer skips that output.
  void (*reference)(const void* args, double* const* exact);

  /// args prepared; integer tensors must be readable by the host (copies will do), others are not read.
  Cost (*cost)(const void* args);

  /// A second shape of the same problem for checking kernels: what a tuned record must survive besides the batch it was
  /// measured on. Ragged tails everywhere; in jagged operators also empty sequences and sequences of one row. Changes
  /// prepared args and their integers in place. No tensor grows, so buffers made for the original do; shapes change in
  /// their first dimension only and strides stay.
  void (*edge_case)(void* args, Integers& integers);
};

std::span<const Operator> operators();
const Operator& operator_of(Op op);

inline hstu_tensor& tensor_at(void* args, const TensorSlot& slot) {
  return *reinterpret_cast<hstu_tensor*>(static_cast<std::byte*>(args) + slot.offset);
}
inline const hstu_tensor& tensor_at(const void* args, const TensorSlot& slot) {
  return *reinterpret_cast<const hstu_tensor*>(static_cast<const std::byte*>(args) + slot.offset);
}

/// Of args with a workspace.
inline void*& workspace_at(void* args, const WorkspaceSlot& slot) {
  return *reinterpret_cast<void**>(static_cast<std::byte*>(args) + slot.address);
}
inline size_t& workspace_size_at(void* args, const WorkspaceSlot& slot) {
  return *reinterpret_cast<size_t*>(static_cast<std::byte*>(args) + slot.size);
}
/// Whether the call adds to what the output of this slot holds.
inline bool adds_to(const OperatorFacts& op, const TensorSlot& slot, const void* args) {
  return slot.accumulates &&
         *reinterpret_cast<const int32_t*>(static_cast<const std::byte*>(args) + op.accumulate->offset) != 0;
}

/// An absent tensor is all zero.
inline bool present(const hstu_tensor& t) { return t.dtype != HSTU_DTYPE_NONE; }
/// Bytes from data to the end of the last element.
int64_t extent_bytes(const hstu_tensor& t);
/// Those of all of these, as Cost counts them.
double bytes_of_all(std::initializer_list<const hstu_tensor*> tensors);

// ---- The typed forms behind the table, per operator.

/// An args struct of which nothing is set but its size.
template <class Args>
Args sized() {
  Args args{};
  args.struct_size = sizeof args;
  return args;
}

/// The operator of an args struct.
template <class Args>
constexpr Op op_of() = delete;

#define HSTUJIT_DECLARE(op, args_type, function)                   \
  Problem prepare(args_type& args);                                \
  OperatorFacts facts_of(const args_type*);                        \
  Cost cost_of(const args_type& args);                             \
  void make_edge_case(args_type& args, Integers& integers);        \
  namespace reference {                                            \
  void run(const args_type& args, double* const* exact = nullptr); \
  }                                                                \
  template <>                                                      \
  constexpr Op op_of<args_type>() {                                \
    return Op::op;                                                 \
  }
HSTUJIT_OPERATOR_MAP(HSTUJIT_DECLARE)
#undef HSTUJIT_DECLARE

}  // namespace hstujit
