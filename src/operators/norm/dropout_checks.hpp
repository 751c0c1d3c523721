// The attributes of dropout, alone and inside other operators.
#pragma once

#include "support/error.hpp"

namespace hstujit::checks {

inline void dropout_ratio(const char* name, float ratio) {
  if (!(ratio >= 0 && ratio < 1))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: it must be at least 0 and less than 1; 0 means no dropout", name,
         ratio);
}

}  // namespace hstujit::checks
