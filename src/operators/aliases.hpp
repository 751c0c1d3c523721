// Names that operators and members had before. Records, packs, workloads and traffic files that were written with them
// are read as if they had today's; nothing is written with them.
#pragma once

#include "operators/problem.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace hstujit {

/// The operator that was called so.
std::optional<Op> op_named_before(std::string_view name);

/// What a member of an args struct was called.
struct OldMember {
  Op op;
  std::string_view before, now;
  int rank = 0;  ///< of the tensor that this is true of; 0: of any
};
std::span<const OldMember> old_members();

}  // namespace hstujit
