// Layers one behind another, the chain of which a part is a layer. All layers share one workspace, so all of them make
// the same call of attention.
#include "chain/engine.hpp"
#include "chain/output_rows.hpp"
#include "chain/quantised.hpp"
#include "chain/stage_parts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::chain {
namespace {

/// Columns [first, first + columns) of a contiguous matrix.
hstu_tensor part_of(const hstu_tensor& matrix, int64_t first, int64_t columns) {
  hstu_tensor t = matrix;
  t.stride[0] = matrix.shape[1];
  t.stride[1] = 1;
  t.shape[1] = columns;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + first * checks::element_bytes(t.dtype);
  return t;
}

/// The output stage in one, by statistics of attn's rows.
template <class Args>
Args gated_by(const hstu_norm_mul_args& gate, const hstu_tensor& moments) {
  auto product = sized<Args>();
  product.attn = gate.attn;
  product.u = gate.u;
  product.moments = moments;
  product.weight = gate.weight;
  product.bias = gate.bias;
  product.eps = gate.eps;
  return product;
}

hstu_gated_addmm_args as_gated_product(const OutputCalls& calls, const hstu_tensor& moments) {
  auto product = gated_by<hstu_gated_addmm_args>(calls.gate, moments);
  product.w = calls.project.w;
  product.residual = calls.project.residual;
  product.out = calls.project.out;
  return product;
}

hstu_gated_fp8_gemm_args as_gated_fp8_product(const OutputCalls& calls, const hstu_tensor& moments) {
  auto product = gated_by<hstu_gated_fp8_gemm_args>(calls.gate, moments);
  product.w = calls.product->w;
  product.w_descale = calls.product->w_descale;
  product.residual = calls.product->residual;
  product.out = calls.product->out;
  return product;
}

// ---- Projections in FP8: the steps in front of them quantise what they write

/// Of what the products take, a scale a row. Scales of 128 columns are slower to multiply with and hardly closer: five
/// layers of DLRM-v3 are 4.73 % from those that quantise nothing, with them 4.64 %: E4M3's own rounding counts most.
constexpr hstu_fp8_scaling kScaling = HSTU_FP8_ROW;

/// The parameters of a product: a weight [n, k] in place of the layer's own, and a scale for each of the n.
struct ProductWeights {
  const char *name, *fp8_name, *descale_name;
  hstu_tensor replaced;
  hstu_tensor weight, descale;
};

hstu_fp8_gemm_args product_of(const Quantised& x, ProductWeights w, int64_t n, const char* n_what, const char* k_what,
                              hstu_fp8_accumulation accumulation) {
  if (checks::given(w.name, w.replaced))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there: fp8_layers has the projections; leave it absent", w.name);
  const checks::Tensor weight = checks::required<2>(w.fp8_name, w.weight);
  fp8::is_fp8(weight);
  checks::extent(weight, 0, n, n_what);
  checks::extent(weight, 1, x.q.shape[1], k_what);
  fp8::check_descale(w.descale_name, w.descale, kScaling, n, x.q.shape[1]);
  auto product = sized<hstu_fp8_gemm_args>();
  product.x = x.q;
  product.x_descale = x.descale;
  product.w = w.weight;
  product.w_descale = w.descale;
  product.x_scaling = product.w_scaling = kScaling;
  product.accumulation = accumulation;
  return product;
}

/// As fill(), with `normed` in FP8.
void fill_fp8(UvqkCalls& calls, hstu_compute_uvqk_args& args, const Columns& c, const Quantised& normed,
              const hstu_fp8_layer_weights& weights, hstu_fp8_accumulation accumulation) {
  fill(calls.norm, args, c);
  calls.norm.out = normed.q;
  calls.norm.descale = normed.descale;
  calls.norm.scaling = kScaling;
  calls.product = product_of(normed,
                             {"uvqk_weight", "fp8_layers.uvqk_weight", "fp8_layers.uvqk_descale", args.uvqk_weight,
                              weights.uvqk_weight, weights.uvqk_descale},
                             c.all, kAllColumns, kEmbedding, accumulation);
  calls.product->bias = args.uvqk_bias;
  calls.product->activation = HSTU_ACTIVATION_SILU;
  calls.product->activation_columns = c.value;
}

void fill_fp8(OutputCalls& calls, hstu_compute_output_args& args, const Quantised& gated,
              const hstu_fp8_layer_weights& weights, hstu_fp8_accumulation accumulation) {
  fill(calls.gate, args);
  calls.gate.out = gated.q;
  calls.gate.descale = gated.descale;
  calls.gate.scaling = kScaling;
  calls.product = product_of(gated,
                             {"output_weight", "fp8_layers.output_weight", "fp8_layers.output_descale",
                              args.output_weight, weights.output_weight, weights.output_descale},
                             args.out.shape[1], kOutColumns, kGatedColumns, accumulation);
  calls.product->residual = args.residual;
  calls.product->out = args.out;
}

// ---- A layer of a stack

/// Whether u and attn are written where the output stage's rows want them: not where that quantises them.
bool in_place(const hstu_stack_args& args, const Columns& c) {
  const hstu_output_options& options = args.output;
  return !args.fp8_layers && output_written_in_place(options.concat_u != 0, options.concat_x != 0,
                                                     options.silu_u != 0 || options.dropout_ratio != 0, c.value);
}

/// Where a layer's intermediate results lie.
struct LayerSpace {
  std::byte *normed, *gated;
  Quantised fp8_normed, fp8_gated;  ///< in their place where projections are in FP8
  hstu_tensor u, attn;
  hstu_tensor projected;  ///< of the projection what is not u, or all of it, u first
  int64_t first_v;        ///< columns of it in front of v
  hstu_tensor moments;    ///< of attn's rows, if the output stage may be fused
};

/// Absent where the output stage is never fused. There is room for them whatever decides that they are not used.
hstu_tensor take_moments(const hstu_stack_args& args, const Columns& c, Workspace& space) {
  if (!fused_has(args.output, args.x.dtype)) return {};
  const int64_t rows = args.x.shape[0], heads = args.dims.num_heads;
  std::byte* const moments = space.take(matrix_bytes(HSTU_DTYPE_F32, rows, 2 * heads));
  const bool taken = args.fp8_layers ? args.fp8_accumulation == HSTU_FP8_ACCUMULATE_FAST : in_place(args, c);
  return taken ? hstu_heads(moments, HSTU_DTYPE_F32, rows, heads, 2) : hstu_tensor{};
}

LayerSpace take_layer(const hstu_stack_args& args, const Columns& c, Workspace& space) {
  const int64_t rows = args.x.shape[0], width = segments_of(args.output) * c.value;
  const auto matrix = [&](std::byte* data, int64_t columns) { return hstu_matrix(data, args.x.dtype, rows, columns); };
  LayerSpace at{};
  if (in_place(args, c)) {
    at.normed = take(space, args.x, args.x.shape[1]);
    at.gated = take(space, args.x, width);
    at.u = part_of(matrix(at.gated, width), 0, c.value);
    at.attn = part_of(matrix(at.gated, width), c.value, c.value);
    at.first_v = 0;
    at.projected = matrix(take(space, args.x, c.all - c.value), c.all - c.value);
    at.moments = take_moments(args, c, space);
  } else {  // the normed input is dead when the gated output comes to life
    const int64_t widest = std::max(args.x.shape[1], width);
    if (args.fp8_layers) {
      const QuantisedSpace shared = QuantisedSpace::take(space, rows, widest, kScaling);
      at.fp8_normed = shared.matrix(rows, args.x.shape[1], kScaling);
      at.fp8_gated = shared.matrix(rows, width, kScaling);
      at.moments = take_moments(args, c, space);
    } else {
      at.normed = at.gated = take(space, args.x, widest);
    }
    at.projected = matrix(take(space, args.x, c.all), c.all);
    at.first_v = c.value;
    at.u = part_of(at.projected, 0, c.value);
    at.attn = matrix(take(space, args.x, c.value), c.value);
  }
  return at;
}

// ---- Parameter sets on the host. Here alone they are addressed: by the size of an element that the host gives, so
// that arrays of hosts with another size can be taken once there is a second one.

template <class Element>
const Element& element_of(const Element* array, size_t element_size, int64_t index) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(array);
  return *reinterpret_cast<const Element*>(bytes + static_cast<size_t>(index) * element_size);
}
const hstu_layer_weights& weights_of(const hstu_stack_args& args, int64_t index) {
  return element_of(args.layers, args.layer_size, index);
}
/// If there are any.
const hstu_fp8_layer_weights& fp8_weights_of(const hstu_stack_args& args, int64_t index) {
  return element_of(args.fp8_layers, args.fp8_layer_size, index);
}

/// Both arrays, as they stand.
HostArrays weights_on_host(const hstu_stack_args& args) {
  const auto layers = static_cast<size_t>(args.num_layers);
  HostArrays arrays{{{args.layers, layers * args.layer_size}, {}}};
  if (args.fp8_layers) arrays[1] = {args.fp8_layers, layers * args.fp8_layer_size};
  return arrays;
}

void check_element_sizes(const hstu_stack_args& args) {
  checks::element_size("layer_size", args.layer_size, sizeof(hstu_layer_weights));
  if (args.fp8_layers) checks::element_size("fp8_layer_size", args.fp8_layer_size, sizeof(hstu_fp8_layer_weights));
}

// ---- The calls of a layer

/// What layer `index` reads: x, or what the layer before it wrote.
const hstu_tensor& input_of(const hstu_stack_args& args, int64_t index) { return index == 0 ? args.x : args.out; }

void fill_uvqk(UvqkCalls& calls, const hstu_stack_args& args, int64_t index, const Columns& c, const LayerSpace& at) {
  const hstu_layer_weights& weights = weights_of(args, index);
  hstu_compute_uvqk_args uvqk{};
  uvqk.x = input_of(args, index);
  uvqk.norm_weight = weights.norm_weight;
  uvqk.norm_bias = weights.norm_bias;
  uvqk.uvqk_weight = weights.uvqk_weight;
  uvqk.uvqk_bias = weights.uvqk_bias;
  uvqk.eps = args.eps;
  uvqk.input_norm = args.input_norm;
  if (args.fp8_layers) {
    fill_fp8(calls, uvqk, c, at.fp8_normed, fp8_weights_of(args, index), args.fp8_accumulation);
    calls.product->out = at.projected;
    return;
  }
  fill(calls, uvqk, c, at.normed);
  const bool placed = in_place(args, c);
  calls.project.out = placed ? at.u : at.projected;
  if (placed) calls.project.out1 = at.projected;
  calls.fused = as_fused(calls);
}

void fill_output(OutputCalls& calls, const hstu_stack_args& args, int64_t index, const Columns& c,
                 const LayerSpace& at) {
  const hstu_layer_weights& weights = weights_of(args, index);
  hstu_compute_output_args output{};
  output.attn = at.attn;
  output.u = at.u;
  output.residual = input_of(args, index);
  output.norm_weight = weights.output_norm_weight;
  output.norm_bias = weights.output_norm_bias;
  output.output_weight = weights.output_weight;
  output.out = args.out;
  output.options = args.output;
  // Wraps around where seed + index leaves 64 bits.
  output.options.seed = static_cast<int64_t>(static_cast<uint64_t>(args.output.seed) + static_cast<uint64_t>(index));
  if (args.fp8_layers)
    fill_fp8(calls, output, at.fp8_gated, fp8_weights_of(args, index), args.fp8_accumulation);
  else
    fill(calls, output, at.gated);
  if (in_place(args, c)) {
    calls.gate.concat_u = calls.gate.concat_x = 0;
    calls.gate.out = part_of(calls.project.x, 2 * c.value, c.value);
  }
}

/// Nothing is saved for gradients yet.
void check_inference(const hstu_stack_args& args) {
  if (args.saved || args.saved_size != 0)
    fail(HSTU_ERROR_UNSUPPORTED,
         "saved is there: a stack saves nothing for its gradient yet; leave it and saved_size 0");
  if (args.recompute != 0)
    fail(HSTU_ERROR_UNSUPPORTED, "recompute = {}: a stack saves nothing for its gradient yet; leave it 0",
         args.recompute);
}

struct LayerCalls {
  AttentionCalls attention;  ///< with moments, if the output stage may be fused by them
  OutputCalls output;
  hstu_gated_addmm_args gated;                             ///< that product, for attention with moments
  std::optional<hstu_gated_fp8_gemm_args> gated_fp8 = {};  ///< it, in FP8; `gated` stays empty then
};

/// Layer `index`; its input is x for the first, out for the others. Attention is filled in for the first alone.
LayerCalls calls_of(hstu_stack_args& args, int64_t index, Workspace& space) {
  check_rows("x", args.x);
  const Columns c = columns_of(args.dims);
  const LayerSpace at = take_layer(args, c, space);
  space.check();
  checks::embedded_size("attention.struct_size", args.attention.struct_size, sizeof args.attention);
  check_inference(args);
  require_absent("attention.out", args.attention.out);
  require_absent("attention.moments", args.attention.moments);
  LayerCalls calls;
  fill_uvqk(calls.attention.uvqk, args, index, c, at);
  if (index == 0) {
    hstu_attention_args& attention = calls.attention.attention;
    fill(attention, args.attention, at.projected, at.first_v, args.dims, c);
    attention.out = heads_of(at.attn, 0, args.dims.num_heads, args.dims.hidden_dim);
    attention.moments = at.moments;
  }
  fill_output(calls.output, args, index, c, at);
  if (args.fp8_layers)
    calls.gated_fp8 = as_gated_fp8_product(calls.output, at.moments);
  else
    calls.gated = as_gated_product(calls.output, at.moments);
  return calls;
}

// ---- As a chain

/// Of layers behind the first, whose steps are ready by then, the call of attention is the first's.
class Layer {
 public:
  Layer(hstu_stack_args& args, int64_t index, const Layer* first, const Fusing& fusing)
      : space_(args.workspace, args.workspace_size), calls_(calls_of(args, index, space_)) {
    if (first) {
      add(steps_, calls_.attention.uvqk, fusing);
      steps_.add(first->steps_[first->attention_]);
    } else {
      add(steps_, calls_.attention, fusing);
    }
    attention_ = steps_.size() - 1;
    if (steps_[attention_].problem[attention::kMoments] == 0 || !add_fused_output(fusing, first == nullptr))
      add(steps_, calls_.output, fusing);
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  Steps& steps() { return steps_; }

  static constexpr size_t kMostSteps = 5;

 private:
  /// If it is taken; if not, `own` attention need not leave what it is made by.
  bool add_fused_output(const Fusing& fusing, bool own) {
    const auto taken = [&](const Problem& product) { return fusing.output(steps_[attention_].problem, product); };
    const char* const name = "output stage";
    if (calls_.gated_fp8 ? steps_.add_if(name, *calls_.gated_fp8, taken) : steps_.add_if(name, calls_.gated, taken))
      return true;
    if (own) {
      calls_.attention.attention.moments = {};
      steps_.prepare_again(attention_, calls_.attention.attention);
    }
    return false;
  }

  Workspace space_;
  LayerCalls calls_;
  std::array<Step, kMostSteps> room_;
  Steps steps_{room_};    // of calls_
  size_t attention_ = 0;  // which of its steps
};

struct Stack {
  using Args = hstu_stack_args;
  using Part = Layer;
  static constexpr const char* kParts = "layers";
  static constexpr size_t kMostSteps = Layer::kMostSteps;
  static constexpr int64_t kBoundParts = 8;
  static constexpr size_t kArrayBytes = kBoundParts * (sizeof(hstu_layer_weights) + sizeof(hstu_fp8_layer_weights));

  static int64_t parts(const Args& args) {
    if (args.num_layers < 1) fail(HSTU_ERROR_INVALID_ARGUMENT, "num_layers = {}: it must be positive", args.num_layers);
    if (!args.layers)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "layers = NULL: it must point to {} parameter sets", args.num_layers);
    check_element_sizes(args);
    return args.num_layers;
  }
  static HostArrays arrays(const Args& args) { return weights_on_host(args); }
  static void point_to(Args& args, const HostArrays& arrays) {
    args.layers = static_cast<const hstu_layer_weights*>(arrays[0].data);
    if (args.fp8_layers) args.fp8_layers = static_cast<const hstu_fp8_layer_weights*>(arrays[1].data);
  }
};

}  // namespace

void measure(const hstu_stack_args& args, Workspace& space) {
  check_rows("x", args.x);
  take_layer(args, columns_of(args.dims), space);
}

HSTUJIT_ON_ENGINE(Stack)

}  // namespace hstujit::chain
