#include "workload/stack_args.hpp"

#include "support/error.hpp"

namespace hstujit {
namespace {

constexpr size_t kCallsPerLayer = 5;  // as expand_stack() makes them

template <class Args>
const Args& call(const Stack& stack, int64_t layer, size_t index) {
  return std::get<Args>(stack.args(static_cast<size_t>(layer) * kCallsPerLayer + index));
}

/// Null where the layer makes another call there.
template <class Args>
const Args* call_if(const Stack& stack, int64_t layer, size_t index) {
  return std::get_if<Args>(&stack.args(static_cast<size_t>(layer) * kCallsPerLayer + index));
}

hstu_layer_weights weights_of(const Stack& stack, int64_t layer) {
  const auto& norm = call<hstu_layer_norm_args>(stack, layer, 0);
  const auto& gate = call<hstu_norm_mul_args>(stack, layer, 3);
  hstu_layer_weights weights{norm.weight, norm.bias, {}, {}, gate.weight, gate.bias, {}};
  if (const auto* product = call_if<hstu_fp8_gemm_args>(stack, layer, 1)) {
    weights.uvqk_bias = product->bias;
  } else {
    const auto& project = call<hstu_addmm_args>(stack, layer, 1);
    weights.uvqk_weight = project.w;
    weights.uvqk_bias = project.y;
    weights.output_weight = call<hstu_addmm_args>(stack, layer, 4).w;
  }
  return weights;
}

hstu_fp8_layer_weights fp8_weights_of(const Stack& stack, int64_t layer) {
  const auto &project = call<hstu_fp8_gemm_args>(stack, layer, 1), &close = call<hstu_fp8_gemm_args>(stack, layer, 4);
  return {project.b, project.b_descale, close.b, close.b_descale};
}

hstu_tensor result_of(const Stack& stack, int64_t layer) {
  const auto* product = call_if<hstu_fp8_gemm_args>(stack, layer, 4);
  return product ? product->out : call<hstu_addmm_args>(stack, layer, 4).z;
}

}  // namespace

StackArgs::StackArgs(const Workload& workload, const Stack& stack, Memory& memory) {
  const StackSpec& spec = *workload.stack;
  for (int64_t i = 0; i < spec.layers; ++i) layers_.push_back(weights_of(stack, i));
  const auto& gate = call<hstu_norm_mul_args>(stack, 0, 3);
  args_.struct_size = sizeof args_;
  args_.x = call<hstu_layer_norm_args>(stack, 0, 0).x;
  args_.out = result_of(stack, spec.layers - 1);
  args_.layers = layers_.data();
  args_.num_layers = spec.layers;
  if (spec.projections != HSTU_DTYPE_NONE) {
    for (int64_t i = 0; i < spec.layers; ++i) fp8_layers_.push_back(fp8_weights_of(stack, i));
    args_.fp8_layers = fp8_layers_.data();
    args_.fp8_accumulation = spec.accumulation;
  }
  args_.dims = {spec.num_heads, spec.attn_dim, spec.hidden_dim};
  args_.eps = spec.eps;
  args_.attention = call<hstu_attention_args>(stack, 0, 2);
  args_.attention.q = args_.attention.k = args_.attention.v = args_.attention.out = hstu_tensor{};
  args_.output.eps = spec.eps;
  args_.output.activation = gate.activation;
  args_.output.concat_u = args_.output.concat_x = spec.concat_ux;  // the gate's own may write in place instead
  args_.output.silu_u = gate.silu_u;
  args_.output.num_groups = gate.num_groups;
  args_.output.norm = gate.norm;
  const hstu_status status = hstu_stack_workspace_size(&args_, &args_.workspace_size);
  if (status != HSTU_OK) fail(status, "the stack's workspace: {}", hstu_last_error());
  args_.workspace = memory.allocate(args_.workspace_size);
}

}  // namespace hstujit
