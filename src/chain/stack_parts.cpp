#include "chain/stack_parts.hpp"

#include "operators/checks.hpp"
#include "support/error.hpp"

namespace hstujit::chain {
namespace {

constexpr uint32_t kRecomputeBits = HSTU_RECOMPUTE_UVQK | HSTU_RECOMPUTE_NORMED_X | HSTU_RECOMPUTE_Y;

/// A layer's slab, behind those before it.
Saved take_saved(const hstu_stack_args& args, const Columns& c, int64_t index, Workspace& space) {
  const hstu_tensor& x = args.x;
  const int64_t rows = x.shape[0], softmax_heads = args.attention.num_softmax_heads;
  const auto kept = [&](int64_t columns) { return hstu_matrix(take(space, x, columns), x.dtype, rows, columns); };
  Saved saved{};
  saved.x = index == 0 ? x : kept(x.shape[1]);
  if (!(args.recompute & HSTU_RECOMPUTE_UVQK)) saved.uvqk = kept(c.all);
  saved.attn = kept(c.value);
  if (softmax_heads > 0)
    saved.lse =
        hstu_matrix(space.take(matrix_bytes(HSTU_DTYPE_F32, softmax_heads, rows)), HSTU_DTYPE_F32, softmax_heads, rows);
  return saved;
}

}  // namespace

hstu_tensor part_of(const hstu_tensor& matrix, int64_t first, int64_t columns) {
  hstu_tensor t = matrix;
  t.stride[0] = matrix.shape[1];
  t.stride[1] = 1;
  t.shape[1] = columns;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + first * checks::element_bytes(t.dtype);
  return t;
}

int64_t layers_of(const hstu_stack_args& args) {
  if (args.num_layers < 1) fail(HSTU_ERROR_INVALID_ARGUMENT, "num_layers = {}: it must be positive", args.num_layers);
  if (!args.layers)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "layers = NULL: it must point to {} parameter sets", args.num_layers);
  checks::element_size("layer_size", args.layer_size, sizeof(hstu_layer_weights));
  return args.num_layers;
}

hstu_compute_uvqk_args uvqk_stage(const hstu_stack_args& args, int64_t index, const hstu_tensor& x) {
  const hstu_layer_weights& weights = weights_of(args, index);
  hstu_compute_uvqk_args stage{};
  stage.x = x;
  stage.norm_weight = weights.norm_weight;
  stage.norm_bias = weights.norm_bias;
  stage.uvqk_weight = weights.uvqk_weight;
  stage.uvqk_bias = weights.uvqk_bias;
  stage.eps = args.eps;
  stage.input_norm = args.input_norm;
  return stage;
}

hstu_compute_output_args output_stage(const hstu_stack_args& args, int64_t index) {
  const hstu_layer_weights& weights = weights_of(args, index);
  hstu_compute_output_args stage{};
  stage.norm_weight = weights.output_norm_weight;
  stage.norm_bias = weights.output_norm_bias;
  stage.output_weight = weights.output_weight;
  stage.options = args.output;
  // Wraps around where seed + index leaves 64 bits.
  stage.options.seed = static_cast<int64_t>(static_cast<uint64_t>(args.output.seed) + static_cast<uint64_t>(index));
  return stage;
}

Saved saved_of(const hstu_stack_args& args, const Columns& c, int64_t index) {
  Workspace space(args.saved, args.saved_size);
  Saved wanted{};
  for (int64_t layer = 0; layer < args.num_layers; ++layer) {
    const Saved saved = take_saved(args, c, layer, space);
    if (layer == index) wanted = saved;
  }
  space.check("saved");
  return wanted;
}

size_t saved_bytes(const hstu_stack_args& args) {
  check_rows("x", args.x);
  const Columns c = columns_of(args.dims);
  if (args.num_layers < 1) fail(HSTU_ERROR_INVALID_ARGUMENT, "num_layers = {}: it must be positive", args.num_layers);
  const int32_t softmax_heads = args.attention.num_softmax_heads;
  if (softmax_heads < 0 || softmax_heads > args.dims.num_heads)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "attention.num_softmax_heads = {}: it must lie in 0 to num_heads = {}",
         softmax_heads, args.dims.num_heads);
  Workspace space;
  for (int64_t layer = 0; layer < args.num_layers; ++layer) take_saved(args, c, layer, space);
  return space.used();
}

void check_saving(const hstu_stack_args& args) {
  if ((args.recompute & ~kRecomputeBits) != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "recompute = {}: use bits of HSTU_RECOMPUTE_..., {} at most", args.recompute,
         kRecomputeBits);
  if (!args.saved) {
    if (args.saved_size != 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "saved = NULL, but saved_size = {}: leave both 0, or give both",
           args.saved_size);
    return;
  }
  if (args.fp8_layers)
    fail(HSTU_ERROR_UNSUPPORTED, "saved is there: a stack with fp8_layers keeps nothing for its gradient yet");
}

}  // namespace hstujit::chain
