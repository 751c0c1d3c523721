// Operators as hosts read them, made of the facts in the operator table.
#pragma once

#include "operators/operators.hpp"

#include <hstujit/hstujit.h>

namespace hstujit {

/// Of an entry of operators(); the same object each time.
const hstu_operator_description& description_of(const Operator& op);

}  // namespace hstujit
