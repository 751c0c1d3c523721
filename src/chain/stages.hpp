// Stages of the HSTU layer as calls of operators: which tensors each takes, slices of whose buffers they are, and what
// lies in the workspace. The functions check shapes under the names that the caller knows; the operators' own checks
// follow when the calls are prepared.
#pragma once

#include "chain/fused.hpp"
#include "chain/steps.hpp"
#include "chain/workspace.hpp"

#include <hstujit/hstujit.h>

#include <optional>

namespace hstujit::chain {

/// The projections of a stage or layer: in FP8 `product` is there, and `project` stays empty.
struct UvqkCalls {
  hstu_layer_norm_args norm;
  hstu_addmm_args project;
  std::optional<hstu_fp8_gemm_args> product = {};
  std::optional<hstu_norm_addmm_args> fused = {};  ///< norm and project in one, if there is such a product
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

// Fill defaults in place, cut the intermediate tensors out of the workspace and check what belongs to the stage.
UvqkCalls calls_of(hstu_compute_uvqk_args& args, Workspace& space);
AttentionCalls calls_of(hstu_preprocess_and_attention_args& args, Workspace& space);
OutputCalls calls_of(hstu_compute_output_args& args, Workspace& space);
Fp8LinearCalls calls_of(hstu_fp8_linear_args& args, Workspace& space);

// The calls as steps.
void add(Steps& steps, UvqkCalls& calls, const Fusing& fusing);
void add(Steps& steps, AttentionCalls& calls, const Fusing& fusing);
void add(Steps& steps, OutputCalls& calls, const Fusing& fusing);
void add(Steps& steps, Fp8LinearCalls& calls, const Fusing& fusing);

}  // namespace hstujit::chain
