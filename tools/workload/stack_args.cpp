#include "workload/stack_args.hpp"

#include "chain/chains.hpp"
#include "chain/output_rows.hpp"
#include "workload/call_builder.hpp"

#include <fmt/format.h>

namespace hstujit {

/// What a workload's stack takes, placed in buffers.
struct StackArgs::Tensors {
  struct Layer {
    Placed norm_weight, norm_bias, uvqk_weight, uvqk_bias, output_norm_weight, output_norm_bias, output_weight;
    Placed uvqk_fp8, uvqk_descale, output_fp8, output_descale;  ///< of projections in FP8
  };

  Tensors(const Workload& workload, Calls& calls)
      : spec(*workload.stack),
        dtype(workload.dtype),
        batch(batch_of(*workload.sequences)),
        setup(calls.setup),
        build(calls.buffers) {
    between.push_back(matrix(layer_input(0)));
    build.integers(batch, workload.sequences->integer_dtype, integers);
    between.push_back(result(layer_input(1)));
    if (spec.layers > 1) between.push_back(result(layer_input(2)));
    for (int64_t i = 0; i < spec.layers; ++i) add_layer(fmt::format("layers.{}.", i));
  }

  /// What layer `index` reads.
  const Placed& input(int64_t index) const { return between[static_cast<size_t>(index == 0 ? 0 : 2 - index % 2)]; }

  const StackSpec& spec;
  const hstu_dtype dtype;
  const Batch batch;
  std::vector<Placed> between;  ///< x, and the results that layers take turns with
  AttentionTensors integers;
  std::vector<Layer> layers;

 private:
  Placed matrix(std::string name) { return build.input(std::move(name), dtype, {batch.total, spec.embedding_dim}); }
  Placed result(std::string name) { return build.output(std::move(name), dtype, {batch.total, spec.embedding_dim}); }
  Placed scale(const std::string& name, int64_t dim) { return build.input(name, dtype, {dim}, 1, 0.1f); }
  Placed shift(const std::string& name, int64_t dim) { return build.input(name, dtype, {dim}, 0, 0.1f); }

  void add_layer(const std::string& prefix) {
    const int64_t dim = spec.num_heads * spec.hidden_dim;
    const int64_t columns = hstu_uvqk_columns({spec.num_heads, spec.attn_dim, spec.hidden_dim});
    Layer& layer = layers.emplace_back();
    layer.norm_weight = scale(prefix + "norm_weight", spec.embedding_dim);
    layer.norm_bias = shift(prefix + "norm_bias", spec.embedding_dim);
    layer.uvqk_bias = shift(prefix + "uvqk_bias", columns);
    layer.output_norm_weight = scale(prefix + "output_norm_weight", dim);
    layer.output_norm_bias = shift(prefix + "output_norm_bias", dim);
    add_weight(prefix + "uvqk_weight", spec.embedding_dim, columns, layer.uvqk_weight, layer.uvqk_fp8,
               layer.uvqk_descale);
    add_weight(prefix + "output_weight", output_segments(spec.concat_ux, spec.concat_ux, false) * dim,
               spec.embedding_dim, layer.output_weight, layer.output_fp8, layer.output_descale);
  }

  /// A weight [k, n]; or, quantised by a call to be made once, its rows of k and their scales.
  void add_weight(const std::string& name, int64_t k, int64_t n, Placed& weight, Placed& fp8, Placed& descale) {
    if (spec.projections == HSTU_DTYPE_NONE) {
      weight = build.weight(name, dtype, k, n, spec.weights_transposed);
      return;
    }
    Placed stored = build.weight(name, dtype, k, n, true);
    stored.tensor = hstu_matrix(nullptr, dtype, n, k);
    fp8 = build.output(name + "_fp8", spec.projections, {n, k});
    descale = build.output(name + "_descale", HSTU_DTYPE_F32, {n});
    Call call = quantize_fp8_call(stored, fp8, descale);
    call.name = name + " to FP8";
    setup.push_back(std::move(call));
  }

  std::vector<Call>& setup;
  CallBuilder build;
};

StackArgs::StackArgs(const Workload& workload, Calls& calls) {
  const Tensors tensors(workload, calls);
  fill(workload, tensors, made_up_addresses(calls.buffers));
  args_.workspace_size = chain::workspace_size(args_);
  // Of elements of one byte: whatever the steps have there.
  calls.buffers.push_back({.name = "workspace",
                           .dtype = HSTU_DTYPE_E4M3,
                           .elements = static_cast<int64_t>(args_.workspace_size),
                           .list = {}});
  args_.workspace = made_up_addresses(calls.buffers).back();
  calls.result = tensors.input(workload.stack->layers).place.buffer;
}

StackArgs::StackArgs(const Workload& workload, const Stack& stack) {
  Calls calls;
  const Tensors tensors(workload, calls);
  std::vector<void*> bases;
  for (const Buffer& buffer : calls.buffers) bases.push_back(stack.base(buffer.name));
  fill(workload, tensors, bases);
  args_.workspace_size = chain::workspace_size(args_);
  args_.workspace = stack.base("workspace");
}

void StackArgs::fill(const Workload& workload, const Tensors& tensors, std::span<void* const> bases) {
  const auto at = [&](const Placed& placed) {
    hstu_tensor t = placed.tensor;
    if (placed.place.buffer >= 0) t.data = bases[static_cast<size_t>(placed.place.buffer)];
    return t;
  };
  const StackSpec& spec = *workload.stack;
  for (const Tensors::Layer& w : tensors.layers) {
    layers_.push_back({at(w.norm_weight), at(w.norm_bias), at(w.uvqk_weight), at(w.uvqk_bias), at(w.output_norm_weight),
                       at(w.output_norm_bias), at(w.output_weight)});
    if (spec.projections != HSTU_DTYPE_NONE)
      fp8_layers_.push_back({at(w.uvqk_fp8), at(w.uvqk_descale), at(w.output_fp8), at(w.output_descale)});
  }
  for (int64_t i = 0; i <= spec.layers; ++i) between_.push_back(at(tensors.input(i)));
  args_.struct_size = sizeof args_;
  args_.x = between_.front();
  args_.out = between_.back();
  args_.layers = layers_.data();
  args_.layer_size = sizeof(hstu_layer_weights);
  args_.num_layers = spec.layers;
  if (!fp8_layers_.empty()) args_.fp8_layers = fp8_layers_.data();
  args_.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
  args_.fp8_accumulation = fp8_layers_.empty() ? hstu_fp8_accumulation{} : spec.accumulation;
  args_.dims = {spec.num_heads, spec.attn_dim, spec.hidden_dim};
  args_.eps = args_.output.eps = spec.eps;
  args_.output.concat_u = args_.output.concat_x = spec.concat_ux;
  args_.attention = std::get<hstu_attention_args>(attention_call(tensors.integers, spec.attention, tensors.batch).args);
  args_.attention.seq_offsets = at(tensors.integers.seq_offsets);
  args_.attention.mask.num_targets = at(tensors.integers.num_targets);
}

hstu_stack_args StackArgs::layer(int64_t index) const {
  const auto i = static_cast<size_t>(index);
  hstu_stack_args one = args_;
  one.x = between_[i];
  one.out = between_[i + 1];
  one.layers = &layers_[i];
  if (one.fp8_layers) one.fp8_layers = &fp8_layers_[i];
  one.num_layers = 1;
  return one;
}

}  // namespace hstujit
