// What is asked, as far as it decides which kernel runs: a 128-byte key per operator. Facts that shape code are exact;
// what varies with every batch (batch, rows, longest sequence) is bucketed, so that live traffic meets tuned records.
// Pointers, strides and lengths stay in the caller's args struct and go to the launch.
#pragma once

#include "operators/operator_map.hpp"
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

#define HSTUJIT_OP(op, args, function) op,
enum class Op : uint32_t { HSTUJIT_OPERATOR_MAP(HSTUJIT_OP) };
#undef HSTUJIT_OP
#define HSTUJIT_ONE(op, args, function) +1
constexpr int kOpCount = HSTUJIT_OPERATOR_MAP(HSTUJIT_ONE);
#undef HSTUJIT_ONE

/// Trivially copyable, no padding; equality and hash are over all its bytes.
struct Problem {
  Op op{};
  std::array<int32_t, 31> field{};  ///< in the order of fields_of(op); unused ones 0

  int32_t operator[](int index) const { return field[static_cast<size_t>(index)]; }
  int32_t& operator[](int index) { return field[static_cast<size_t>(index)]; }
  bool operator==(const Problem& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
  uint64_t hash() const { return hash64(this, sizeof *this); }
};
static_assert(sizeof(Problem) == 128);

enum class FieldKind : uint8_t {
  exact,   ///< shapes code; a record of another value never applies
  dtype,   ///< exact, printed as "bf16"
  bucket,  ///< a power of two standing for (value/2, value]; nearest records may differ here
};

struct FieldInfo {
  std::string_view name;
  FieldKind kind;
  bool rare = false;  ///< texts have it only where it is not 0
};

/// The operator's fields; index i names Problem::field[i]. The enums of HSTUJIT_KEY_FIELDS are these indices.
std::span<const FieldInfo> fields_of(Op op);
std::string_view name_of(Op op);
std::optional<Op> op_named(std::string_view name);  ///< or was named so: see aliases.hpp

std::string_view name_of(hstu_dtype dtype);  ///< "bf16"
std::optional<hstu_dtype> dtype_named(std::string_view name);
int size_of(hstu_dtype dtype);  ///< bytes; 0 for NONE
/// bf16 or f16. dtype: as a problem's fields have it.
inline bool is_16_bit(int dtype) { return dtype == HSTU_DTYPE_BF16 || dtype == HSTU_DTYPE_F16; }

/// Smallest power of two >= value, at most 2^30; 0 stays 0.
int32_t bucket(int64_t value);

/// "attention dtype=bf16 head_dim_qk=128 ...": canonical, every field, parse(text(p)) == p.
std::string text(const Problem& problem);
std::optional<Problem> parse_problem(std::string_view text);

// What each field means stands in the operator's list of them, in <op>.hpp: see HSTUJIT_KEY_FIELDS.
// Vector facts are elements per aligned access (8, 4, 2 or 1; f32 at most 4): the largest for which base address, row
// stride and extent all fit.

}  // namespace hstujit
