// f64: the reference computes with it, no kernel does.
#pragma once

#include "operators/problem.hpp"

namespace hstujit {

/// Whether some of the problem's numbers are f64. Copies have no such numbers, whatever they move.
bool computes_in_f64(const Problem& problem);
/// For a device that is not the CPU: throws Error{UNSUPPORTED_DTYPE} naming the tensor where the problem does.
void refuse_f64(const Problem& problem, const void* args);

}  // namespace hstujit
