// What a call of each operator costs; args prepared. See Operator::work.
#pragma once

#include "problem/operators.hpp"

namespace hstujit {

Work work_of(const hstu_layer_norm_args& args);
Work work_of(const hstu_addmm_args& args);
Work work_of(const hstu_attention_args& args);
Work work_of(const hstu_norm_mul_args& args);

}  // namespace hstujit
