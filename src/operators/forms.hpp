// What a call may give a member of an args struct: of tensors, element types, ranks and free strides; of numbers, what
// 0 stands for. prepare() decides; tests/operators/forms_test.cpp holds what is said here against it.
#pragma once

#include <hstujit/hstujit.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace hstujit {

/// Element types as a set: bit HSTU_DTYPE_x for each.
using Dtypes = uint32_t;
constexpr Dtypes set_of(std::initializer_list<hstu_dtype> dtypes) {
  Dtypes set = 0;
  for (const hstu_dtype dtype : dtypes) set |= Dtypes{1} << dtype;
  return set;
}
inline constexpr Dtypes kF32 = set_of({HSTU_DTYPE_F32});
inline constexpr Dtypes k16Bit = set_of({HSTU_DTYPE_F16, HSTU_DTYPE_BF16});
inline constexpr Dtypes kF64 = set_of({HSTU_DTYPE_F64});  ///< on device "cpu" alone, but for copies
inline constexpr Dtypes kFloating = kF32 | k16Bit | kF64;
inline constexpr Dtypes kI32 = set_of({HSTU_DTYPE_I32}), kI64 = set_of({HSTU_DTYPE_I64});
inline constexpr Dtypes kIntegers = kI32 | kI64;
inline constexpr Dtypes kE4m3 = set_of({HSTU_DTYPE_E4M3});
inline constexpr Dtypes kFp8 = kE4m3 | set_of({HSTU_DTYPE_E5M2});
inline constexpr Dtypes kBits = set_of({HSTU_DTYPE_U8, HSTU_DTYPE_I16});
inline constexpr Dtypes kCopied = kFloating | kIntegers | kFp8 | kBits;  ///< by operators that move elements only

/// What a tensor may be, in one call or another.
struct TensorForm {
  static constexpr int8_t kNoRank = -1;

  Dtypes dtypes = 0;
  bool optional = false;  ///< some calls leave it out
  /// [r]: of a tensor of rank r, how many of its leading dimensions may have any stride. Those behind are contiguous.
  std::array<int8_t, HSTU_MAX_RANK + 1> free_strides = {kNoRank, kNoRank, kNoRank, kNoRank, kNoRank, kNoRank};

  constexpr TensorForm or_rank(int rank, int free) const {
    TensorForm form = *this;
    form.free_strides.at(static_cast<size_t>(rank)) = static_cast<int8_t>(free);
    return form;
  }
  constexpr TensorForm or_rank(int rank) const { return or_rank(rank, rank - 1); }
  constexpr TensorForm or_absent() const {
    TensorForm form = *this;
    form.optional = true;
    return form;
  }
};
/// free: strides, see above; without it, all but the last.
constexpr TensorForm of_rank(int rank, Dtypes dtypes, int free) { return TensorForm{dtypes}.or_rank(rank, free); }
constexpr TensorForm of_rank(int rank, Dtypes dtypes) { return of_rank(rank, dtypes, rank - 1); }

/// What a number that a host leaves at 0 counts as.
struct Zero {
  double means = 0;      ///< NaN: that follows from other members
  bool refused = false;  ///< it counts as nothing: the number must be set
};
inline constexpr Zero kFollows{std::numeric_limits<double>::quiet_NaN()};
inline constexpr Zero kMustBeSet{0, true};

}  // namespace hstujit
