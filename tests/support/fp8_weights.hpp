// What FP8 attention may be wrong by, element by element: its weights come from approximate scores and are rounded to
// e4m3, as hstujit/attention.h has it.
#pragma once

#include "support/oracle.hpp"

namespace hstujit::test {

/// Of each element of out, in row-major order; 0 where no row is. args on the host, not prepared.
Exact error_of_fp8_weights(hstu_attention_fp8_args args);

}  // namespace hstujit::test
