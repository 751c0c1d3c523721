// The key of addmm_dpre.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_ADDMM_DPRE_FIELDS(X)                                                \
  X(kDtype, dtype, dtype)                                                           \
  X(kActivation, activation, exact)                                                 \
  X(kPartial, partial, exact) /* the activation covers the first columns only */    \
  X(kFlat, flat, exact)       /* no gaps, and all columns: as if it were one row */ \
  X(kVector, vector, exact)                                                         \
  X(kM, m, bucket)                                                                  \
  X(kN, n, bucket)
HSTUJIT_KEY_FIELDS(addmm_dpre, HSTUJIT_ADDMM_DPRE_FIELDS)

}  // namespace hstujit
