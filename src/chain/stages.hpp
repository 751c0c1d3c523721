// Stages of the HSTU layer as calls of operators: which tensors each takes, slices of whose buffers they are, and what
// lies in the workspace. The functions check shapes under the names that the caller knows; the operators' own checks
// follow when the calls are prepared.
#pragma once

#include "chain/workspace.hpp"

#include <hstujit/hstujit.h>

#include <optional>

namespace hstujit::layer {

/// The projections of a stage or layer: in FP8 `product` is there, and `project` stays empty.
struct UvqkCalls {
  hstu_layer_norm_args norm;
  hstu_addmm_args project;
  std::optional<hstu_fp8_gemm_args> product = {};
  std::optional<hstu_norm_addmm_args> both = {};  ///< norm and project as one product, if there is such a one
};
struct AttentionCalls {
  UvqkCalls uvqk;
  hstu_attention_args attention;
};
struct OutputCalls {
  hstu_norm_mul_args gate;
  hstu_addmm_args project;
  std::optional<hstu_fp8_gemm_args> product = {};
};
struct Fp8LinearCalls {
  hstu_quantize_fp8_args quantise;
  hstu_fp8_gemm_args product;
};
struct LayerCalls {
  AttentionCalls attention;  ///< with moments, if the output stage may be one product by them
  OutputCalls output;
  hstu_gated_addmm_args gated;                             ///< that product, for attention with moments
  std::optional<hstu_gated_fp8_gemm_args> gated_fp8 = {};  ///< it, in FP8; `gated` stays empty then
};

// Fill defaults in place, cut the intermediate tensors out of the workspace and check what belongs to the stage.
UvqkCalls calls_of(hstu_compute_uvqk_args& args, Workspace& space);
AttentionCalls calls_of(hstu_preprocess_and_attention_args& args, Workspace& space);
OutputCalls calls_of(hstu_compute_output_args& args, Workspace& space);
Fp8LinearCalls calls_of(hstu_fp8_linear_args& args, Workspace& space);
/// Layer `index` of a stack; its input is x for the first, out for the others. Layers share one workspace: each gets a
/// fresh Workspace on the same memory. So all of them make the same call of attention: it is filled in for the first
/// alone.
LayerCalls calls_of(hstu_stack_args& args, int64_t index, Workspace& space);

// What the stages take of a workspace. Throw Error where x or the dimensions make no sense.
void measure(const hstu_compute_uvqk_args& args, Workspace& space);
void measure(const hstu_preprocess_and_attention_args& args, Workspace& space);
void measure(const hstu_compute_output_args& args, Workspace& space);
void measure(const hstu_stack_args& args, Workspace& space);
void measure(const hstu_fp8_linear_args& args, Workspace& space);

}  // namespace hstujit::layer
