// Chains of operators behind one entry point: all calls are checked and made ready before the first is launched.
#pragma once

#include "call/context.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::layer {

void run(Context& context, hstu_compute_uvqk_args& args, CUstream stream);
void run(Context& context, hstu_preprocess_and_attention_args& args, CUstream stream);
void run(Context& context, hstu_compute_output_args& args, CUstream stream);
void run(Context& context, hstu_stack_args& args, CUstream stream);
void run(Context& context, hstu_fp8_linear_args& args, CUstream stream);

}  // namespace hstujit::layer
