// The steps that every prepare() is made of: tensors normalised and checked one by one, then against each other.
// Failing paths build texts; passing ones touch neither heap nor strings.
#pragma once

#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace hstujit::checks {

/// An enum's value as the caller stored it: reading one outside the enum's range as that enum would be undefined.
template <class Enum>
int code(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

/// Of a known dtype; size_of() searches, and this is asked several times a call.
inline int64_t element_bytes(hstu_dtype dtype) {
  constexpr int8_t kBytes[] = {0, 4, 2, 2, 4, 8, 1, 1, 1, 2, 8};
  static_assert(std::size(kBytes) == HSTU_DTYPE_F64 + 1);
  return kBytes[dtype];
}

/// A tensor argument with the name its messages use; bytes is its extent in memory, 0 when empty or absent.
struct Tensor {
  const char* name;
  hstu_tensor& t;
  int64_t bytes = 0;
};

/// Throws INVALID_ARGUMENT unless struct_size is the struct's own.
void struct_size(size_t given, size_t expected);

/// A tensor that must be there, of this rank. Fills contiguous strides where all are zero without HSTU_STRIDES_GIVEN,
/// which is set then, and those of dimensions with at most one element, which address nothing; checks dtype, extents,
/// strides, flags, data and alignment.
template <int kRank>
Tensor required(const char* name, hstu_tensor& t);
/// As required(), except that the last stride may be anything.
template <int kRank>
Tensor required_any_strides(const char* name, hstu_tensor& t);
/// True when the tensor is there. An absent one becomes all zero: what its extents and strides held is nobody's.
bool given(const char* name, hstu_tensor& t);

// Of the checks below, each is a comparison here and a text elsewhere.
[[noreturn]] void refuse_dtype(const Tensor& a, const char* rule);
[[noreturn]] void refuse_other_dtype(const Tensor& a, const Tensor& like);
[[noreturn]] void refuse_extent(const Tensor& a, int dim, int64_t expected, const char* what);
[[noreturn]] void refuse_size(const Tensor& a, int dim);

/// Element types. UNSUPPORTED_DTYPE.
inline void floating(const Tensor& a) {
  if (a.t.dtype > HSTU_DTYPE_BF16 && a.t.dtype != HSTU_DTYPE_F64)
    refuse_dtype(a, "use f32, f16 or bf16, or f64 on device \"cpu\"");
}
inline void integer(const Tensor& a) {
  if (a.t.dtype != HSTU_DTYPE_I32 && a.t.dtype != HSTU_DTYPE_I64) refuse_dtype(a, "use i32 or i64");
}
inline void is_f32(const Tensor& a) {
  if (a.t.dtype != HSTU_DTYPE_F32) refuse_dtype(a, "it must be f32");
}
inline void same_dtype(const Tensor& a, const Tensor& like) {
  if (a.t.dtype != like.t.dtype) refuse_other_dtype(a, like);
}

/// a.shape[dim] must be `expected`, which is `what` ("total = q.shape[0]"). SHAPE_MISMATCH.
inline void extent(const Tensor& a, int dim, int64_t expected, const char* what) {
  if (a.t.shape[dim] != expected) refuse_extent(a, dim, expected, what);
}

/// The extent as a problem field. UNSUPPORTED beyond 32 bits.
inline int32_t field(const Tensor& a, int dim) {
  if (a.t.shape[dim] > INT32_MAX) refuse_size(a, dim);
  return static_cast<int32_t>(a.t.shape[dim]);
}

/// Two extents of a tensor multiplied: rows of both, which an empty tensor may have more of than 64 bits count.
/// INVALID_ARGUMENT.
int64_t product(const Tensor& a, int dim, int other);

/// Throws unless some order of the dimensions nests.
void require_nesting(const Tensor& out);
/// Distinct elements of an output lie at distinct addresses. INVALID_ARGUMENT.
inline void no_self_overlap(const Tensor& out) {
  int64_t reach = 0;  // of the dimensions within; nearly always they are in order
  bool nested = true;
  for (int d = out.t.rank - 1; d >= 0; --d) {
    nested &= out.t.stride[d] > reach;
    reach += (out.t.shape[d] - 1) * out.t.stride[d];
  }
  if (!nested) require_nesting(out);
}

/// Throws unless the two, whose ranges of addresses meet, are columns of one buffer, told apart by their row stride.
void require_interleaved(const Tensor& out, const Tensor& in);
/// The output shares no byte with the input. INVALID_ARGUMENT.
inline void disjoint(const Tensor& out, const Tensor& in) {
  const auto a = reinterpret_cast<uintptr_t>(out.t.data), b = reinterpret_cast<uintptr_t>(in.t.data);
  const auto a_end = a + static_cast<uintptr_t>(out.bytes), b_end = b + static_cast<uintptr_t>(in.bytes);
  if (a < b_end && b < a_end && out.bytes > 0 && in.bytes > 0) require_interleaved(out, in);
}
/// As disjoint(), except that the input may be the output itself: same data and strides.
void disjoint_or_same(const Tensor& out, const Tensor& in);

/// Attributes. INVALID_ARGUMENT. zero_means completes the message: "0 means unlimited".
void not_negative(const char* name, int64_t value, const char* zero_means);
void flag(const char* name, int64_t value);
/// Of a struct within args: 0 or its size.
void embedded_size(const char* name, size_t given, size_t expected);
/// Of the elements of an array on the host.
void element_size(const char* name, size_t given, size_t expected);
/// What a member means whose 0 means a default; HSTU_EXACT_ZERO, the negative zero, stays as it is.
template <class Float>
Float given_or(Float value, Float fallback) {
  return value == 0 && !std::signbit(value) ? fallback : value;
}
void check_eps(double value);
template <class Float>
Float eps(Float value) {
  check_eps(static_cast<double>(value));
  return given_or(value, Float{1e-5f});
}
void finite(const char* name, double value);

/// Elements per aligned access, at most 16 bytes unless more is asked for: 8, 4, 2 or 1.
class Vector {
 public:
  explicit Vector(int most) : bits_(static_cast<uint64_t>(most)) {}  ///< a power of two
  explicit Vector(hstu_dtype dtype) : bits_(dtype == HSTU_DTYPE_F32 ? 4 : dtype == HSTU_DTYPE_F64 ? 2 : 8) {}

  /// The extent is cut into accesses.
  Vector& length(int64_t elements) {
    bits_ |= static_cast<uint64_t>(elements);
    return *this;
  }
  /// Lines that overlap in memory, of a broadcast tensor for one, have no tensor map: they count as aligned to 4
  /// elements, which keeps them with families that load by themselves.
  Vector& lines(int64_t count, int64_t stride, int64_t elements) {
    return count > 1 && stride < elements ? length(4) : *this;
  }
  /// Address and all strides but the last, and the last extent. Indices of one address count as lines that overlap.
  Vector& tensor(const hstu_tensor& t) {
    address(t);
    for (int d = 0; d + 1 < t.rank; ++d) length(t.stride[d]).lines(t.shape[d], t.stride[d], 1);
    return length(t.shape[t.rank - 1]);
  }
  /// The address alone; a tensor of wider elements is accessed in several 16-byte parts.
  Vector& address(const hstu_tensor& t) {
    const auto at = reinterpret_cast<uintptr_t>(t.data);
    if (at % 16 != 0) bits_ |= at / static_cast<uintptr_t>(element_bytes(t.dtype));
    return *this;
  }
  int32_t elements() const { return static_cast<int32_t>(bits_ & (~bits_ + 1)); }  ///< the lowest set bit

 private:
  uint64_t bits_;
};

}  // namespace hstujit::checks
