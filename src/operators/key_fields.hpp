// From one list of an operator's key fields: the enum of their indices and the array of their names and kinds.
#pragma once

#include "operators/problem.hpp"

#include <array>
#include <iterator>
#include <tuple>

namespace hstujit::key_field {
inline constexpr bool rare = true;  ///< the word for FieldInfo::rare in a list
}

#define HSTUJIT_FIELD_INDEX(index, name, kind, ...) index,
#define HSTUJIT_FIELD_INFO(index, name, kind, ...) {#name, FieldKind::kind __VA_OPT__(, key_field::__VA_ARGS__)},

/// LIST is a macro of X(index, name, kind) or X(index, name, kind, rare), a line a field: X(kHeadDim, head_dim, exact).
/// Defines in hstujit::space the indices into Problem::field, kHeadDim and its like, and kFields, what fields_of(op)
/// gives. Records and stores hold keys: the order and the names of fields are for good. To be used within hstujit.
#define HSTUJIT_KEY_FIELDS(space, LIST)                                            \
  namespace space {                                                                \
  enum : int { LIST(HSTUJIT_FIELD_INDEX) };                                        \
  inline constexpr FieldInfo kFields[] = {LIST(HSTUJIT_FIELD_INFO)};               \
  static_assert(std::size(kFields) <= std::tuple_size_v<decltype(Problem::field)>, \
                "a problem has no room for so many fields");                       \
  }
