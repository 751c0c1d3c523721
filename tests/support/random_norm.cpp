// Random problems of the norms, softmax and dropout.
#include "support/norm_gradients.hpp"
#include "support/random_draw.hpp"

namespace hstujit::test {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;

constexpr Tolerance kScale{4e-6, 100};
/// The special function of bf16, whose error shows where the greatest of a few elements is small.
constexpr Tolerance kScaleOfApproximate{5e-4, 1e4};

/// A value between two of FP8's may go to either where it is as near to their middle as it is exact.
template <class Args>
std::vector<Expected<Args>> quantised(const Args& args, hstu_tensor Args::*output, bool approximate) {
  Tolerance steps = rounded_to_fp8(static_cast<hstu_dtype>((args.*output).dtype));
  if (!approximate) steps.ulps_of_row = 400;
  return {{output, steps}, {&Args::descale, approximate ? kScaleOfApproximate : kScale}};
}

/// Scales of an FP8 result, of rows or of 128 columns.
template <class Args>
void set_scaling(Draw& d, int64_t rows, int64_t columns, Args& args) {
  args.scaling = d.kernel.any({HSTU_FP8_ROW, HSTU_FP8_GROUP});
  args.descale = args.scaling == HSTU_FP8_ROW ? d.vector(kF32, rows, Contents::poison)
                                              : d.matrix(kF32, rows, (columns + 127) / 128, Contents::poison);
}

hstu_dtype each_weight(Draw& d, bool absent) {
  return absent ? d.each({kF32, kBf16, kNone, kF16}) : d.each({kF32, kBf16, kF16});
}

/// x, y of x's type and maybe in its place, weight and bias of `weights` elements where there are any.
template <class Args>
void set_rows(Draw& d, hstu_dtype dtype, hstu_dtype weight, int64_t columns, int64_t weights, Args& args) {
  const int64_t rows = d.rows(columns);
  args.x =
      d.matrix(dtype, rows, columns, Contents::normal, d.problem.any({0.0, 0.25, 3.0}), d.problem.any({1.0, 2.0, 0.1}));
  args.eps = d.problem.any({0.0f, 1e-5f, 1e-3f});
  if (weight == kNone) return;
  args.weight = d.vector(weight, weights, Contents::normal, 1, 0.3);
  if constexpr (requires { args.bias; }) args.bias = d.vector(weight, weights);
}
template <class Args>
void set_result(Draw& d, Args& args) {
  const auto dtype = static_cast<hstu_dtype>(args.x.dtype);
  args.out = d.kernel.below(6) == 0 ? args.x : d.matrix(dtype, args.x.shape[0], args.x.shape[1], Contents::poison);
}

/// With the moments that some calls of layer norm leave.
template <class Args>
void correct_norm(Draw& d, Args args, std::vector<Expected<Args>> outputs) {
  if constexpr (requires { args.moments; }) {
    if (d.kernel.coin()) args.moments = d.memory.poison(kF32, {args.x.shape[0], 1, 2});
    if (present(args.moments) && d.runs()) {
      args.struct_size = sizeof args;
      outputs.push_back(expected_moments(args));
    }
  }
  d.correct<Args>(args, std::move(outputs));
}

/// Norms that may go to FP8.
template <class Args>
void draw_norm(Draw& d) {
  Args args{};
  const hstu_dtype dtype = d.each_floating(), weight = each_weight(d, true);
  const bool quantises = d.each({0, 1}) != 0;
  const int64_t columns = d.width();
  set_rows(d, dtype, weight, columns, columns, args);
  bool silu = false;
  if constexpr (requires { args.activation; }) {
    silu = d.kernel.coin();
    args.activation = silu ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE;
  }
  if (!quantises) {
    set_result(d, args);
    const Exact of_terms(static_cast<size_t>(args.x.shape[0] * columns), 3e-6);
    return correct_norm<Args>(d, args, {{&Args::out, rounded_once(dtype), of_terms}});
  }
  args.out = d.matrix(d.kernel.fp8(), args.x.shape[0], columns, Contents::poison);
  set_scaling(d, args.x.shape[0], columns, args);
  correct_norm<Args>(d, args, quantised(args, &Args::out, silu && dtype == kBf16));
}

void draw_swish(Draw& d) {
  hstu_swish_layer_norm_args args{};
  const hstu_dtype dtype = d.each_floating(), weight = each_weight(d, true);
  const int64_t columns = d.width();
  set_rows(d, dtype, weight, columns, columns, args);
  set_result(d, args);
  d.correct(args, {&hstu_swish_layer_norm_args::out}, rounded_once(dtype));
}

void draw_group_norm(Draw& d) {
  hstu_group_norm_args args{};
  const hstu_dtype dtype = d.each_floating(), weight = each_weight(d, true);
  args.num_groups = static_cast<int32_t>(d.kernel.any<int64_t>({1, 2, 3, 4, 8, 16, d.kernel.up_to(40)}));
  const int64_t columns = std::max<int64_t>(d.width() / args.num_groups, 1) * args.num_groups;
  set_rows(d, dtype, weight, columns, args.num_groups, args);
  set_result(d, args);
  d.correct(args, {&hstu_group_norm_args::out}, rounded_once(dtype));
}

void draw_norm_mul(Draw& d) {
  using Args = hstu_norm_mul_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), weight = each_weight(d, false);
  const bool quantises = d.each({0, 1}) != 0;
  args.norm = d.kernel.any({HSTU_NORM_LAYER, HSTU_NORM_RMS, HSTU_NORM_SWISH});
  args.num_groups = d.kernel.coin() ? 0 : static_cast<int32_t>(d.kernel.any({1, 2, 4, 5, 8}));
  args.concat_u = d.kernel.coin(), args.concat_x = d.kernel.coin(), args.silu_u = d.kernel.coin();
  if (args.num_groups == 0)
    args.activation = d.kernel.any({HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID});
  const int64_t parts = std::max(args.num_groups, 1);
  const int64_t columns = std::max<int64_t>(d.width() / parts, 1) * parts, rows = d.rows(columns, 40);
  args.attn = d.matrix(dtype, rows, columns, Contents::normal, 0.1), args.u = d.matrix(dtype, rows, columns);
  const int64_t weights = args.num_groups > 0 ? args.num_groups : columns;
  args.weight = d.vector(weight, weights, Contents::normal, 1, 0.3);
  if (args.norm != HSTU_NORM_RMS) args.bias = d.vector(weight, weights);
  const bool one_segment = args.num_groups > 0 && !(args.concat_u && args.concat_x);
  const int64_t out_columns = (one_segment ? 1 : 1 + args.concat_u + args.concat_x) * columns;
  args.out = d.matrix(quantises ? d.kernel.fp8() : dtype, rows, out_columns, Contents::poison);
  args.dropout_stream = static_cast<hstu_dropout_stream>(d.kernel.below(4));
  args.dropout_ratio = d.kernel.seldom() ? 0.2f : 0.0f;
  args.seed = d.problem.below(1 << 30);
  if (!quantises) return d.correct(args, {&Args::out}, rounded_once(dtype));
  set_scaling(d, rows, out_columns, args);
  const bool approximate =
      dtype == kBf16 && (args.silu_u || args.activation != HSTU_ACTIVATION_NONE || args.norm == HSTU_NORM_SWISH);
  d.correct<Args>(args, quantised(args, &Args::out, approximate));
}

void draw_rope(Draw& d) {
  using Args = hstu_rms_norm_rope_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), weight = each_weight(d, false);
  const hstu_dtype angle = d.each({kF32, kBf16, kF16});
  const bool quantises = d.kernel.coin(), halves = d.kernel.coin();
  const int64_t head_dim = d.kernel.coin() ? d.kernel.any<int64_t>({64, 128, 256}) : 2 * d.kernel.up_to(130);
  const int64_t columns = head_dim * d.kernel.up_to(std::max<int64_t>(5000 / head_dim, 1));
  const int64_t length = d.rows(columns, 30), batch = d.problem.up_to(3);
  args.x = d.matrices(dtype, batch, length, columns);
  args.weight = d.vector(weight, columns, Contents::normal, 1, 0.3);
  args.cosine = d.matrix(angle, length, halves ? head_dim / 2 : head_dim);
  args.sine = d.matrix(angle, length, halves ? head_dim / 2 : head_dim);
  args.head_dim = halves ? head_dim : 0;
  if (!quantises) {
    args.out = d.matrices(dtype, batch, length, columns, Contents::poison);
    return d.correct(args, {&Args::out}, rounded_once(dtype));
  }
  args.out = d.matrices(d.kernel.fp8(), batch, length, columns, Contents::poison);
  set_scaling(d, batch * length, columns, args);
  d.correct<Args>(args, quantised(args, &Args::out, false));
}

void draw_layer_norm_backward(Draw& d) {
  using Args = hstu_layer_norm_backward_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), weight = each_weight(d, true);
  const int64_t columns = d.width();
  set_rows(d, dtype, weight, columns, columns, args.forward);
  const int64_t rows = args.forward.x.shape[0];
  args.dout = d.matrix(dtype, rows, columns);
  const bool dx = weight == kNone || d.kernel.below(4) > 0;
  if (dx) args.dx = d.kernel.below(6) == 0 ? args.dout : d.matrix(dtype, rows, columns, Contents::poison);
  if (dx && d.kernel.coin()) args.dresidual = d.matrix(dtype, rows, columns);
  args.accumulate = d.problem.coin();
  const hstu_dtype gradient = d.kernel.coin() ? kF32 : weight;
  const Contents before = args.accumulate ? Contents::normal : Contents::poison;
  if (weight != kNone && d.kernel.below(4) > 0) args.dweight = d.vector(gradient, columns, before);
  if (weight != kNone && (!dx || d.kernel.coin())) args.dbias = d.vector(gradient, columns, before);
  if (d.problem.coin()) args.valid_rows = d.integers({d.problem.below(rows + 1)});
  give_workspace(d.memory, args);
  args.struct_size = sizeof args;
  d.correct<Args>(args, d.runs() ? expected_gradients(args) : std::vector<Expected<Args>>{});
}

void draw_softmax(Draw& d) {
  hstu_softmax_args args{};
  const hstu_dtype dtype = d.each_floating();
  args.log = d.each({0, 1}), args.zero_empty_rows = d.each({0, 1});
  const int64_t columns = d.width();
  args.x = d.matrix(dtype, d.rows(columns), columns, Contents::normal, 0, d.problem.any({1.0, 5.0}));
  set_result(d, args);
  d.correct<hstu_softmax_args>(args, {{&hstu_softmax_args::out, rounded_once(dtype)}});
}

void draw_dropout(Draw& d) {
  hstu_dropout_args args{};
  const hstu_dtype dtype = d.each_floating();
  args.words_per_counter = d.each({1, 4});
  args.ratio = d.kernel.seldom() ? 0.0f : d.problem.any({0.1f, 0.5f, 0.9f});
  args.seed = d.problem.below(int64_t{1} << 40);
  const int64_t columns = d.width();
  args.x = d.matrix(dtype, d.rows(columns), columns);
  set_result(d, args);
  d.correct(args, {&hstu_dropout_args::out}, rounded_once(dtype));
}

}  // namespace

std::span<const RandomOperator> random_norm() {
  static constexpr RandomOperator kAll[] = {{Op::layer_norm, draw_norm<hstu_layer_norm_args>},
                                            {Op::rms_norm, draw_norm<hstu_rms_norm_args>},
                                            {Op::swish_layer_norm, draw_swish},
                                            {Op::group_norm, draw_group_norm},
                                            {Op::norm_mul, draw_norm_mul},
                                            {Op::rms_norm_rope, draw_rope},
                                            {Op::softmax, draw_softmax},
                                            {Op::dropout, draw_dropout},
                                            {Op::layer_norm_backward, draw_layer_norm_backward}};
  return kAll;
}

}  // namespace hstujit::test
