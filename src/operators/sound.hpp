// Problems that came as bytes, from a database or a copy of winners.
#pragma once

#include "operators/problem.hpp"

namespace hstujit {

/// Whether the operator exists, its types are types, its buckets are some, and what it has no field for is 0: then
/// text(problem) and distance() may be asked of it.
bool sound(const Problem& problem);

}  // namespace hstujit
