// What is asked, as far as it decides which kernel runs: a 64-byte key per operator. Facts that shape code are exact;
// what varies with every batch (batch, rows, longest sequence) is bucketed, so that live traffic meets tuned records.
// Pointers, strides and lengths stay in the caller's args struct and go to the launch.
#pragma once

#include "support/hash.hpp"

#include <hstujit/hstujit.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hstujit {

enum class Op : uint32_t { layer_norm, addmm, hstu_attention, norm_mul };
constexpr int kOpCount = 4;

/// Trivially copyable, no padding; equality and hash are over the 64 bytes.
struct Problem {
  Op op{};
  std::array<int32_t, 15> field{};  ///< in the order of fields_of(op); unused ones 0

  int32_t operator[](int index) const { return field[static_cast<size_t>(index)]; }
  int32_t& operator[](int index) { return field[static_cast<size_t>(index)]; }
  bool operator==(const Problem& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
  uint64_t hash() const { return hash64(this, sizeof *this); }
};
static_assert(sizeof(Problem) == 64);

enum class FieldKind : uint8_t {
  exact,   ///< shapes code; a record of another value never applies
  dtype,   ///< exact, printed as "bf16"
  bucket,  ///< a power of two standing for (value/2, value]; nearest records may differ here
};

struct FieldInfo {
  std::string_view name;
  FieldKind kind;
};

/// The operator's fields; index i names Problem::field[i]. The enums below are these indices.
std::span<const FieldInfo> fields_of(Op op);
std::string_view name_of(Op op);
std::optional<Op> op_named(std::string_view name);

std::string_view name_of(hstu_dtype dtype);  ///< "bf16"
std::optional<hstu_dtype> dtype_named(std::string_view name);
int size_of(hstu_dtype dtype);  ///< bytes; 0 for NONE

/// Smallest power of two >= value, at most 2^30; 0 stays 0.
int32_t bucket(int64_t value);

/// "hstu_attention dtype=bf16 head_dim_qk=128 ...": canonical, every field, parse(text(p)) == p.
std::string text(const Problem& problem);
std::optional<Problem> parse_problem(std::string_view text);

// ---- Field indices, one enum per operator. Vector facts are elements per aligned access (8, 4, 2 or 1; f32 at most
// 4): the largest for which base address, row stride and extent all fit.

namespace layer_norm {
enum : int { kDtype, kWeightDtype, kHasWeight, kDim, kVector, kRows };
}
namespace addmm {
enum : int {
  kDtype,
  kN,
  kK,
  kBias /* 0 none, 1 row, 2 residual */,
  kBiasDtype,
  kActivation,
  kActColumns,
  kWeightTransposed,
  kVectorX,
  kVectorW,
  kVectorZ /* z and residual y */,
  kM
};
}
namespace attention {
enum : int {
  kDtype,
  kHeadDimQk,
  kHeadDimV,
  kNumHeads,
  kOffsetDtype,
  kTargetDtype /* NONE without targets */,
  kMask /* hstu_mask */,
  kContextual /* 0|1 */,
  kMaxAttnLen /* 0|1 */,
  kMinFullAttn /* 0|1 */,
  kAttnScale /* 0 none, 1 scalar, 2 rows */,
  kVector,
  kBatch,
  kTotal,
  kMaxSeqLen
};
}
namespace norm_mul {
enum : int {
  kDtype,
  kWeightDtype,
  kDim,
  kGroups /* 0 layer norm */,
  kActivation,
  kConcatU,
  kConcatX,
  kSiluU,
  kVector,
  kRows
};
}

}  // namespace hstujit
