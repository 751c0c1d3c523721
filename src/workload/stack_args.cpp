#include "workload/stack_args.hpp"

#include "support/error.hpp"

namespace hstujit {
namespace {

constexpr size_t kCallsPerLayer = 5;  // as expand_stack() makes them

template <class Args>
const Args& call(const Stack& stack, int64_t layer, size_t index) {
  return std::get<Args>(stack.args(static_cast<size_t>(layer) * kCallsPerLayer + index));
}

hstu_layer_weights weights_of(const Stack& stack, int64_t layer) {
  const auto& norm = call<hstu_layer_norm_args>(stack, layer, 0);
  const auto& project = call<hstu_addmm_args>(stack, layer, 1);
  const auto& gate = call<hstu_norm_mul_args>(stack, layer, 3);
  const auto& close = call<hstu_addmm_args>(stack, layer, 4);
  return {norm.weight, norm.bias, project.w, project.y, gate.weight, gate.bias, close.w};
}

}  // namespace

StackArgs::StackArgs(const Workload& workload, const Stack& stack, Memory& memory) {
  const StackSpec& spec = *workload.stack;
  for (int64_t i = 0; i < spec.layers; ++i) layers_.push_back(weights_of(stack, i));
  const auto& gate = call<hstu_norm_mul_args>(stack, 0, 3);
  args_.struct_size = sizeof args_;
  args_.x = call<hstu_layer_norm_args>(stack, 0, 0).x;
  args_.out = call<hstu_addmm_args>(stack, spec.layers - 1, 4).z;
  args_.layers = layers_.data();
  args_.num_layers = spec.layers;
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
