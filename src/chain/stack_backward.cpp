// The gradient of a stack, layer by layer from the last. A layer's steps, of which those run that a wanted gradient
// needs; y are the rows that the output projection reads, [u' | attn | norm * u]:
//
//   layer norm, UVQK projection   u, v, q, k once more, if they were not kept
//   dy                            dout output_weight^T
//   gradient of norm * u          dattn, du, parameters of the norm; y once more
//   output_weight                 y^T dout
//   layer norm                    normed x once more
//   u before SiLU                 the first columns of the projection once more: SiLU has no inverse
//   gradient of SiLU              du through it, in place
//   gradient of attention         dv, dq, dk, beside du
//   UVQK weight and bias          normed^T d[u|v|q|k], and the sums of its columns
//   gradient of normed x          d[u|v|q|k] uvqk_weight^T
//   gradient of layer norm        dx, with dout added: the residual; parameters of the norm
//
// dx of a layer is dout of the one below. All layers share one workspace.
#include "chain/engine.hpp"
#include "chain/stack_parts.hpp"
#include "operators/operators.hpp"

#include <algorithm>

namespace hstujit::chain {
namespace {

using Args = hstu_stack_backward_args;

// ---- What is wanted

/// The gradients of a layer's parameters, those that are absent all zero.
hstu_layer_weights gradients_of(const Args& args, int64_t index) {
  if (!args.gradients) return {};
  hstu_layer_weights gradients = element_of(args.gradients, args.gradient_size, index);
  const struct {
    const char* name;
    hstu_tensor& t;
  } members[] = {{"gradients.norm_weight", gradients.norm_weight},
                 {"gradients.norm_bias", gradients.norm_bias},
                 {"gradients.uvqk_weight", gradients.uvqk_weight},
                 {"gradients.uvqk_bias", gradients.uvqk_bias},
                 {"gradients.output_norm_weight", gradients.output_norm_weight},
                 {"gradients.output_norm_bias", gradients.output_norm_bias},
                 {"gradients.output_weight", gradients.output_weight}};
  for (const auto& member : members) checks::given(member.name, member.t);
  return gradients;
}

/// Which parts of a layer's gradient are made.
struct Wanted {
  bool dx = false;    ///< somebody below wants something
  bool norm = false;  ///< the gradient of layer norm: dx, or parameters
  bool uvqk_parameters = false;
  bool uvqk = false;  ///< the gradient of u, v, q and k
  bool gate = false;  ///< the gradient of norm * u
  bool y = false;     ///< for output_weight
  bool any() const { return gate || y; }
};

Wanted parameters_of(const hstu_layer_weights& gradients) {
  Wanted wanted;
  wanted.norm = present(gradients.norm_weight) || present(gradients.norm_bias);
  wanted.uvqk_parameters = present(gradients.uvqk_weight) || present(gradients.uvqk_bias);
  wanted.uvqk = wanted.norm || wanted.uvqk_parameters;
  wanted.gate = wanted.uvqk || present(gradients.output_norm_weight) || present(gradients.output_norm_bias);
  wanted.y = present(gradients.output_weight);
  return wanted;
}

Wanted wanted_of(const Args& args, int64_t index) {
  Wanted wanted = parameters_of(gradients_of(args, index));
  wanted.dx = present(args.dx);
  for (int64_t below = 0; below < index && !wanted.dx; ++below)
    wanted.dx = parameters_of(gradients_of(args, below)).any();
  if (wanted.dx) wanted.norm = wanted.uvqk = wanted.gate = true;
  return wanted;
}

// ---- Where it lies

struct Space {
  hstu_tensor dx;    ///< of layers above the first; the next one's dout
  hstu_tensor uvqk;  ///< if it is computed again
  hstu_tensor dattn, duvqk;
  hstu_tensor dy, y;            ///< one place: y is written over dy
  hstu_tensor normed, dnormed;  ///< one place, of y once that has been read
  hstu_tensor pre_u;            ///< behind it
  std::byte* scratch;           ///< the steps' own workspace
  size_t scratch_bytes;
};

template <class Step>
size_t own_workspace(const Step& step) {
  return operator_of(op_of<Step>()).workspace->bytes(&step);
}

/// The most that a step takes for itself, whatever is wanted.
size_t scratch_bytes(const hstu_stack_args& args, const Columns& c) {
  const int64_t rows = args.x.shape[0], embedding = args.x.shape[1], width = segments_of(args.output) * c.value;
  const hstu_dtype dtype = args.x.dtype;
  const auto product = [&](int64_t k, int64_t n, bool weight) {
    auto step = sized<hstu_addmm_wgrad_args>();
    step.x = hstu_matrix(nullptr, dtype, rows, k);
    step.dout = hstu_matrix(nullptr, dtype, rows, n);
    if (weight) step.dw = hstu_matrix(nullptr, dtype, k, n);
    step.dbias = hstu_vector(nullptr, dtype, n);
    return own_workspace(step);
  };
  auto norm = sized<hstu_layer_norm_backward_args>();
  norm.forward.x = norm.dout = hstu_matrix(nullptr, dtype, rows, embedding);
  norm.dweight = norm.dbias = hstu_vector(nullptr, dtype, embedding);
  auto gate = sized<hstu_norm_mul_backward_args>();
  gate.forward.attn = gate.forward.u = hstu_matrix(nullptr, dtype, rows, c.value);
  gate.forward.num_groups = static_cast<int32_t>(std::clamp<int64_t>(args.output.num_groups, 0, INT32_MAX));
  gate.dweight = gate.dbias = hstu_vector(nullptr, dtype, c.value);
  return std::max({product(width, embedding, true), product(embedding, c.all, true), product(embedding, c.all, false),
                   own_workspace(norm), own_workspace(gate)});
}

Space take_space(const hstu_stack_args& args, const Columns& c, Workspace& space) {
  const hstu_tensor& x = args.x;
  const int64_t rows = x.shape[0], embedding = x.shape[1], width = segments_of(args.output) * c.value;
  const auto matrix = [&](std::byte* data, int64_t columns) { return hstu_matrix(data, x.dtype, rows, columns); };
  const auto taken = [&](int64_t columns) { return matrix(take(space, x, columns), columns); };
  Space at{};
  if (args.num_layers > 1) at.dx = taken(embedding);
  if (args.recompute & HSTU_RECOMPUTE_UVQK) at.uvqk = taken(c.all);
  at.dattn = taken(c.value);
  at.duvqk = taken(c.all);
  at.scratch_bytes = scratch_bytes(args, c);
  at.scratch = space.take(static_cast<int64_t>(at.scratch_bytes));
  const bool early = at.uvqk.rank > 0;  // the projection that is made again leaves normed before there is y
  if (early) at.normed = at.dnormed = taken(embedding);
  const size_t place = space.mark();
  at.dy = at.y = taken(width);
  space.rewind(place);
  if (!early) at.normed = at.dnormed = taken(embedding);
  at.pre_u = taken(c.value);
  return at;
}

// ---- The calls of a layer

struct LayerCalls {
  UvqkCalls uvqk;  ///< once more
  hstu_addmm_args dy;
  hstu_norm_mul_args y;
  hstu_norm_mul_backward_args gate;
  hstu_addmm_wgrad_args output_weight;
  hstu_addmm_args pre_u;
  hstu_addmm_dpre_args silu;
  hstu_attention_backward_args attention;
  hstu_addmm_wgrad_args uvqk_parameters;
  hstu_addmm_args dnormed;
  hstu_layer_norm_backward_args norm;
};

hstu_tensor transposed(hstu_tensor matrix) {
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.stride[0], matrix.stride[1]);
  return matrix;
}

/// The columns of a checked matrix, or the elements of a vector, in front.
hstu_tensor front_of(hstu_tensor t, int64_t columns) {
  if (present(t)) t.shape[t.rank - 1] = columns;
  return t;
}

/// The number of rows that count: the last of seq_offsets.
hstu_tensor valid_rows_of(const hstu_tensor& offsets) {
  hstu_tensor t = hstu_vector(offsets.data, offsets.dtype, 1);
  const int64_t last = (offsets.shape[0] - 1) * (offsets.stride[0] ? offsets.stride[0] : 1);
  if (t.data) t.data = static_cast<std::byte*>(t.data) + last * checks::element_bytes(t.dtype);
  return t;
}

hstu_addmm_args product(const hstu_tensor& x, const hstu_tensor& w, const hstu_tensor& out) {
  auto product = sized<hstu_addmm_args>();
  product.x = x;
  product.w = w;
  product.out = out;
  return product;
}

/// A gradient that lies column by column is written as its transpose.
hstu_addmm_wgrad_args weight_gradient(const Args& args, const hstu_tensor& x, const hstu_tensor& dout,
                                      const hstu_tensor& dw, const Space& at) {
  auto gradient = sized<hstu_addmm_wgrad_args>();
  gradient.x = x;
  gradient.dout = dout;
  gradient.transposed = dw.rank == 2 && dw.stride[0] == 1 && dw.stride[1] > 1;
  gradient.dw = gradient.transposed ? transposed(dw) : dw;
  gradient.accumulate = args.accumulate;
  gradient.determinism = args.determinism;
  gradient.valid_rows = valid_rows_of(args.forward.attention.seq_offsets);
  gradient.workspace = at.scratch;
  gradient.workspace_size = at.scratch_bytes;
  return gradient;
}

/// What both gradients of norms have in common.
template <class Gradient>
Gradient norm_gradient(const Args& args, const Space& at) {
  auto gradient = sized<Gradient>();
  gradient.accumulate = args.accumulate;
  gradient.determinism = args.determinism;
  gradient.valid_rows = valid_rows_of(args.forward.attention.seq_offsets);
  gradient.workspace = at.scratch;
  gradient.workspace_size = at.scratch_bytes;
  return gradient;
}

class LayerGradient {
 public:
  LayerGradient(Args& args, int64_t index, const LayerGradient*, const Fusing& fusing);
  LayerGradient(const LayerGradient&) = delete;
  LayerGradient& operator=(const LayerGradient&) = delete;

  Steps& steps() { return steps_; }

  static constexpr size_t kMostSteps = 11;

 private:
  void add_uvqk(const Fusing& fusing);
  void fill_output(hstu_compute_output_args& stage, const hstu_layer_weights& gradients);
  void add_output();
  void fill_uvqk(const hstu_layer_weights& gradients);
  void fill_attention();
  void add_input();

  Args& args_;
  const Columns c_;
  const Wanted wanted_;
  Saved saved_;
  Space at_;
  hstu_tensor dout_, dx_, uvqk_;
  bool normed_ = false;  ///< normed x is there already
  LayerCalls calls_;
  std::array<Step, kMostSteps> room_;
  Steps steps_{room_};  // of calls_
};

bool again(const Args& args) { return (args.forward.recompute & HSTU_RECOMPUTE_UVQK) != 0; }

/// dout, or dx, of the whole.
void check_like_x(const char* name, hstu_tensor& t, hstu_tensor& x) {
  const checks::Tensor like = checks::required<2>(name, t);
  checks::same_dtype(like, {"x", x});
  checks::extent(like, 0, x.shape[0], "x.shape[0]");
  checks::extent(like, 1, x.shape[1], kEmbedding);
}

void check(Args& args) {
  hstu_stack_args& forward = args.forward;
  checks::embedded_size("forward.struct_size", forward.struct_size, sizeof forward);
  checks::embedded_size("forward.attention.struct_size", forward.attention.struct_size, sizeof forward.attention);
  check_rows("x", forward.x);
  check_saving(forward);
  if (!forward.saved) fail(HSTU_ERROR_INVALID_ARGUMENT, "forward.saved = NULL: give what hstu_stack left there");
  check_like_x("dout", args.dout, forward.x);
  if (checks::given("dx", args.dx)) check_like_x("dx", args.dx, forward.x);
  checks::required<1>("attention.seq_offsets", forward.attention.seq_offsets);
  if (forward.attention.seq_offsets.shape[0] < 1)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "attention.seq_offsets.shape[0] = 0: it must be batch + 1");
}

LayerGradient::LayerGradient(Args& args, int64_t index, const LayerGradient*, const Fusing& fusing)
    : args_((check(args), args)), c_(columns_of(args.forward.dims)), wanted_(wanted_of(args, index)) {
  Workspace space(args.workspace, args.workspace_size);
  at_ = take_space(args.forward, c_, space);
  space.check();
  saved_ = saved_of(args.forward, c_, index);
  dout_ = index + 1 == args.forward.num_layers ? args.dout : at_.dx;
  dx_ = index == 0 ? args.dx : at_.dx;
  uvqk_ = again(args) ? at_.uvqk : saved_.uvqk;

  // All of it is checked, wanted or not.
  hstu_compute_uvqk_args uvqk = uvqk_stage(args.forward, index, saved_.x);
  fill(calls_.uvqk, uvqk, c_, static_cast<std::byte*>(at_.normed.data));
  calls_.uvqk.project.out = uvqk_;
  hstu_compute_output_args output = output_stage(args.forward, index);
  const hstu_layer_weights gradients = gradients_of(args, index);
  fill_output(output, gradients);
  fill_uvqk(gradients);
  fill_attention();

  if (!wanted_.any()) return;
  if (again(args)) add_uvqk(fusing);
  add_output();
  if (wanted_.uvqk) add_input();
}

/// As the stack made them, which may have been in one with the norm.
void LayerGradient::add_uvqk(const Fusing& fusing) {
  calls_.uvqk.fused = as_fused(calls_.uvqk);
  add(steps_, calls_.uvqk, fusing);
  normed_ = steps_.size() == 2;
}

void LayerGradient::fill_output(hstu_compute_output_args& stage, const hstu_layer_weights& gradients) {
  stage.attn = saved_.attn;
  stage.u = part_of(uvqk_, 0, c_.value);
  stage.out = dout_;
  OutputCalls forward;
  fill(forward, stage, static_cast<std::byte*>(at_.y.data));
  calls_.y = forward.gate;
  calls_.dy = product(dout_, transposed(forward.project.w), at_.dy);
  calls_.gate = norm_gradient<hstu_norm_mul_backward_args>(args_, at_);
  calls_.gate.forward = forward.gate;
  calls_.gate.forward.out = {};
  calls_.gate.dout = at_.dy;
  if (wanted_.uvqk) {
    calls_.gate.dattn = at_.dattn;
    calls_.gate.du = part_of(at_.duvqk, 0, c_.value);
  }
  calls_.gate.dweight = gradients.output_norm_weight;
  calls_.gate.dbias = gradients.output_norm_bias;
  if (wanted_.y) calls_.gate.out = at_.y;
  calls_.output_weight = weight_gradient(args_, at_.y, dout_, gradients.output_weight, at_);
}

void LayerGradient::add_output() {
  if (wanted_.gate) {
    steps_.add("gradient of the output projection's input", calls_.dy);
    steps_.add("gradient of norm * u", calls_.gate);
  } else {
    steps_.add("norm * u", calls_.y);
  }
  if (wanted_.y) steps_.add("gradient of output_weight", calls_.output_weight);
}

void LayerGradient::fill_uvqk(const hstu_layer_weights& gradients) {
  const hstu_addmm_args& project = calls_.uvqk.project;
  const hstu_tensor du = part_of(at_.duvqk, 0, c_.value);
  calls_.pre_u = product(at_.normed, front_of(project.w, c_.value), at_.pre_u);
  calls_.pre_u.bias = front_of(project.bias, c_.value);
  calls_.silu = sized<hstu_addmm_dpre_args>();
  calls_.silu.pre = at_.pre_u;
  calls_.silu.dout = calls_.silu.dpre = du;
  calls_.silu.activation = HSTU_ACTIVATION_SILU;
  calls_.uvqk_parameters = weight_gradient(args_, at_.normed, at_.duvqk, gradients.uvqk_weight, at_);
  calls_.uvqk_parameters.dbias = gradients.uvqk_bias;
  calls_.dnormed = product(at_.duvqk, transposed(project.w), at_.dnormed);
  calls_.norm = norm_gradient<hstu_layer_norm_backward_args>(args_, at_);
  calls_.norm.forward = calls_.uvqk.norm;
  calls_.norm.forward.out = {};
  calls_.norm.dout = at_.dnormed;
  if (wanted_.dx) {
    calls_.norm.dresidual = dout_;
    calls_.norm.dx = dx_;
  }
  calls_.norm.dweight = gradients.norm_weight;
  calls_.norm.dbias = gradients.norm_bias;
}

void LayerGradient::fill_attention() {
  const hstu_layer_dims& dims = args_.forward.dims;
  calls_.attention = sized<hstu_attention_backward_args>();
  hstu_attention_args& forward = calls_.attention.forward;
  fill(forward, args_.forward.attention, uvqk_, c_.value, dims, c_);
  forward.out = heads_of(saved_.attn, 0, dims.num_heads, dims.hidden_dim);
  forward.lse = saved_.lse;
  calls_.attention.dout = heads_of(at_.dattn, 0, dims.num_heads, dims.hidden_dim);
  calls_.attention.dv = heads_of(at_.duvqk, c_.value, dims.num_heads, dims.hidden_dim);
  calls_.attention.dq = heads_of(at_.duvqk, 2 * c_.value, dims.num_heads, dims.attn_dim);
  calls_.attention.dk = heads_of(at_.duvqk, 2 * c_.value + c_.query, dims.num_heads, dims.attn_dim);
  calls_.attention.determinism = args_.determinism;
}

void LayerGradient::add_input() {
  if (!normed_) steps_.add("layer norm", calls_.uvqk.norm);
  steps_.add("u before SiLU", calls_.pre_u);
  steps_.add("gradient of SiLU", calls_.silu);
  steps_.add("gradient of attention", calls_.attention);
  if (wanted_.uvqk_parameters) steps_.add("gradient of uvqk_weight and uvqk_bias", calls_.uvqk_parameters);
  if (!wanted_.norm) return;
  steps_.add("gradient of the UVQK projection's input", calls_.dnormed);
  steps_.add("gradient of layer norm", calls_.norm);
}

struct StackBackward {
  using Args = hstu_stack_backward_args;
  using Part = LayerGradient;
  static constexpr const char* kParts = "layers";
  static constexpr bool kLastFirst = true;
  static constexpr size_t kMostSteps = LayerGradient::kMostSteps;
  static constexpr int64_t kBoundParts = 8;
  static constexpr size_t kArrayBytes = kBoundParts * 2 * sizeof(hstu_layer_weights);

  static int64_t parts(const Args& args) {
    const int64_t layers = layers_of(args.forward);
    if (args.gradients) checks::element_size("gradient_size", args.gradient_size, sizeof(hstu_layer_weights));
    return layers;
  }
  static HostArrays arrays(const Args& args) {
    const auto layers = static_cast<size_t>(args.forward.num_layers);
    HostArrays arrays{{{args.forward.layers, layers * args.forward.layer_size}, {}}};
    if (args.gradients) arrays[1] = {args.gradients, layers * args.gradient_size};
    return arrays;
  }
  static void point_to(Args& args, const HostArrays& arrays) {
    args.forward.layers = static_cast<const hstu_layer_weights*>(arrays[0].data);
    if (args.gradients) args.gradients = static_cast<const hstu_layer_weights*>(arrays[1].data);
  }
};

}  // namespace

void measure(const hstu_stack_backward_args& args, Workspace& space) {
  check_rows("x", args.forward.x);
  take_space(args.forward, columns_of(args.forward.dims), space);
}

HSTUJIT_ON_ENGINE(StackBackward)

}  // namespace hstujit::chain
