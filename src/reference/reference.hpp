// The operators in plain double precision on host memory: device "cpu", and the truth of tests and tuning.
#pragma once

#include <hstujit/hstujit.h>

namespace hstujit::reference {

/// args prepared, tensors in host memory. Computes in double and rounds once, into the args' output; or, when `exact`
/// is given, leaves the output alone (its data may be anything) and writes unrounded values to `exact`, a contiguous
/// buffer of the output's shape. Throws Error where integer tensors hold impossible values.
void run(const hstu_layer_norm_args& args, double* exact = nullptr);
void run(const hstu_addmm_args& args, double* exact = nullptr);
void run(const hstu_attention_args& args, double* exact = nullptr);
void run(const hstu_norm_mul_args& args, double* exact = nullptr);

}  // namespace hstujit::reference
