#include "workload/stack_args.hpp"

#include "support/error.hpp"

namespace hstujit {
namespace {

/// A layer's calls as expand_stack() makes them.
class LayerCalls {
 public:
  LayerCalls(const Stack& stack, int64_t layer)
      : stack_(stack),
        one_(stack.one_products()),
        attention_(one_.uvqk ? 1 : 2),
        output_(attention_ + 1),
        first_(static_cast<size_t>(layer) * (output_ + (one_.output ? 1 : 2))) {}

  const hstu_tensor& x() const { return one_.uvqk ? call<hstu_norm_addmm_args>(0).x : call<hstu_layer_norm_args>(0).x; }
  const hstu_attention_args& attention() const { return call<hstu_attention_args>(attention_); }
  const hstu_tensor& out() const {
    if (one_.output)
      return in_fp8() ? call<hstu_gated_fp8_gemm_args>(output_).out : call<hstu_gated_addmm_args>(output_).out;
    return in_fp8() ? call<hstu_fp8_gemm_args>(output_ + 1).out : call<hstu_addmm_args>(output_ + 1).z;
  }
  hstu_layer_weights weights() const {
    hstu_layer_weights all{};
    add_uvqk(all);
    add_output(all);
    return all;
  }
  /// Of a stack with projections in FP8.
  hstu_fp8_layer_weights fp8_weights() const {
    const auto& project = call<hstu_fp8_gemm_args>(1);
    if (one_.output) {
      const auto& product = call<hstu_gated_fp8_gemm_args>(output_);
      return {project.b, project.b_descale, product.w, product.w_descale};
    }
    const auto& close = call<hstu_fp8_gemm_args>(output_ + 1);
    return {project.b, project.b_descale, close.b, close.b_descale};
  }
  /// As norm_mul has it; one product knows but one.
  hstu_output_options output(bool concat_ux) const {
    hstu_output_options options{};
    options.concat_u = options.concat_x = concat_ux;  // the gate's own may write in place instead
    if (one_.output) return options;
    const auto& gate = call<hstu_norm_mul_args>(output_);
    options.activation = gate.activation;
    options.silu_u = gate.silu_u;
    options.num_groups = gate.num_groups;
    options.norm = gate.norm;
    return options;
  }

 private:
  template <class Args>
  const Args& call(size_t index) const {
    return std::get<Args>(stack_.args(first_ + index));
  }

  bool in_fp8() const { return std::holds_alternative<hstu_fp8_gemm_args>(stack_.args(first_ + 1)); }

  void add_uvqk(hstu_layer_weights& all) const {
    if (one_.uvqk) {
      const auto& product = call<hstu_norm_addmm_args>(0);
      all.norm_weight = product.norm_weight, all.norm_bias = product.norm_bias;
      all.uvqk_weight = product.w, all.uvqk_bias = product.y;
      return;
    }
    const auto& norm = call<hstu_layer_norm_args>(0);
    all.norm_weight = norm.weight, all.norm_bias = norm.bias;
    if (in_fp8()) {
      all.uvqk_bias = call<hstu_fp8_gemm_args>(1).bias;
    } else {
      const auto& project = call<hstu_addmm_args>(1);
      all.uvqk_weight = project.w, all.uvqk_bias = project.y;
    }
  }
  void add_output(hstu_layer_weights& all) const {
    if (one_.output && in_fp8()) {
      const auto& product = call<hstu_gated_fp8_gemm_args>(output_);
      all.output_norm_weight = product.weight, all.output_norm_bias = product.bias;
    } else if (one_.output) {
      const auto& product = call<hstu_gated_addmm_args>(output_);
      all.output_norm_weight = product.weight, all.output_norm_bias = product.bias, all.output_weight = product.w;
    } else {
      const auto& gate = call<hstu_norm_mul_args>(output_);
      all.output_norm_weight = gate.weight, all.output_norm_bias = gate.bias;
      if (!in_fp8()) all.output_weight = call<hstu_addmm_args>(output_ + 1).w;
    }
  }

  const Stack& stack_;
  const OneProducts one_;
  const size_t attention_, output_;  // which of its calls are theirs
  const size_t first_;
};

}  // namespace

StackArgs::StackArgs(const Workload& workload, const Stack& stack, Memory& memory) {
  const StackSpec& spec = *workload.stack;
  for (int64_t i = 0; i < spec.layers; ++i) layers_.push_back(LayerCalls(stack, i).weights());
  const LayerCalls first(stack, 0);
  args_.struct_size = sizeof args_;
  args_.x = first.x();
  args_.out = LayerCalls(stack, spec.layers - 1).out();
  args_.layers = layers_.data();
  args_.num_layers = spec.layers;
  if (spec.projections != HSTU_DTYPE_NONE) {
    for (int64_t i = 0; i < spec.layers; ++i) fp8_layers_.push_back(LayerCalls(stack, i).fp8_weights());
    args_.fp8_layers = fp8_layers_.data();
    args_.fp8_accumulation = spec.accumulation;
  }
  args_.dims = {spec.num_heads, spec.attn_dim, spec.hidden_dim};
  args_.eps = spec.eps;
  args_.attention = first.attention();
  args_.attention.q = args_.attention.k = args_.attention.v = args_.attention.out = hstu_tensor{};
  args_.attention.moments = hstu_tensor{};
  args_.output = first.output(spec.concat_ux);
  args_.output.eps = spec.eps;
  const hstu_status status = hstu_stack_workspace_size(&args_, &args_.workspace_size);
  if (status != HSTU_OK) fail(status, "the stack's workspace: {}", hstu_last_error());
  args_.workspace = memory.allocate(args_.workspace_size);
}

}  // namespace hstujit
