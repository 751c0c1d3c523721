// The steps that every prepare() is made of: tensors normalised and checked one by one, then against each other.
// Failing paths build texts; passing ones touch neither heap nor strings.
#pragma once

#include "problem/problem.hpp"

#include <hstujit/hstujit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hstujit::checks {

/// An enum's value as the caller stored it: reading one outside the enum's range as that enum would be undefined.
template <class Enum>
int code(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

/// A tensor argument with the name its messages use; bytes is its extent in memory, 0 when empty or absent.
struct Tensor {
  const char* name;
  hstu_tensor& t;
  int64_t bytes = 0;
};

/// Throws INVALID_ARGUMENT unless struct_size is the struct's own.
void struct_size(size_t given, size_t expected);

/// A tensor that must be there, of this rank. Fills contiguous strides where all are zero and those of dimensions with
/// at most one element, which address nothing; checks dtype, extents, strides, data and alignment.
Tensor required(const char* name, hstu_tensor& t, int rank);
/// As required(), except that the last stride may be anything.
Tensor required_any_strides(const char* name, hstu_tensor& t, int rank);
/// True when the tensor is there; false when it is absent, that is, all zero.
bool given(const char* name, const hstu_tensor& t);

/// Element types. UNSUPPORTED_DTYPE.
void floating(const Tensor& a);  ///< f32, f16, bf16
void integer(const Tensor& a);   ///< i32, i64
void is_f32(const Tensor& a);
void same_dtype(const Tensor& a, const Tensor& like);

/// a.shape[dim] must be `expected`, which is `what` ("q.shape[0]"). SHAPE_MISMATCH.
void extent(const Tensor& a, int dim, int64_t expected, const char* what);
void same_shape(const Tensor& a, const Tensor& like);

/// The extent as a problem field. UNSUPPORTED beyond 32 bits.
int32_t field(const Tensor& a, int dim);

/// Distinct elements of an output lie at distinct addresses.
void no_self_overlap(const Tensor& out);
/// The output shares no byte with the input. Column slices of one buffer are told apart by their common row stride.
void disjoint(const Tensor& out, const Tensor& in);
/// As disjoint(), except that the input may be the output itself: same data and strides.
void disjoint_or_same(const Tensor& out, const Tensor& in);

/// Attributes. INVALID_ARGUMENT. zero_means completes the message: "0 means unlimited".
void not_negative(const char* name, int64_t value, const char* zero_means);
void flag(const char* name, int32_t value);
float eps(float value);  ///< the default for 0
void finite(const char* name, float value);

/// Elements per aligned access, at most 16 bytes: 8, 4, 2 or 1.
class Vector {
 public:
  explicit Vector(hstu_dtype dtype) : bits_(static_cast<uint64_t>(16 / size_of(dtype))) {}

  /// The extent is cut into accesses.
  Vector& length(int64_t elements) {
    bits_ |= static_cast<uint64_t>(elements);
    return *this;
  }
  /// Address and all strides but the last, and the last extent.
  Vector& tensor(const hstu_tensor& t) {
    address(t);
    for (int d = 0; d + 1 < t.rank; ++d) length(t.stride[d]);
    return length(t.shape[t.rank - 1]);
  }
  /// The address alone; a tensor of wider elements is accessed in several 16-byte parts.
  Vector& address(const hstu_tensor& t) {
    const auto at = reinterpret_cast<uintptr_t>(t.data);
    if (at % 16 != 0) bits_ |= at / static_cast<uintptr_t>(size_of(t.dtype));
    return *this;
  }
  int32_t elements() const { return static_cast<int32_t>(bits_ & (~bits_ + 1)); }  ///< the lowest set bit

 private:
  uint64_t bits_;
};

}  // namespace hstujit::checks
