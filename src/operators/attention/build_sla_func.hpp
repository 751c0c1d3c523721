// The key of build_sla_func.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_SLA_FIELDS(X)                                     \
  X(kOffsetDtype, offset_dtype, dtype)                            \
  X(kTargetDtype, target_dtype, dtype) /* NONE without targets */ \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(sla, HSTUJIT_SLA_FIELDS)

}  // namespace hstujit
