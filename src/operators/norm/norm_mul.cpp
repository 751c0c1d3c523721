// Norm, multiply and concatenate, the HSTU output stage before its projection: facts, checks, key, cost and reference.
#include "operators/norm/norm_mul.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/dropout.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"

#include <bit>

namespace hstujit {
namespace {

using Args = hstu_norm_mul_args;

constexpr TensorSlot kTensors[] = {
    {"attn", offsetof(Args, attn), TensorRole::input, of_rank(2, kFloating)},
    {"u", offsetof(Args, u), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Args, weight), TensorRole::input, of_rank(1, kFloating)},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating | kFp8)},
    {"descale", offsetof(Args, descale), TensorRole::output, of_rank(1, kF32).or_rank(2, 2).or_absent()}};
constexpr std::string_view kNormWords[] = {"layer", "rms", "swish"};
constexpr std::string_view kStreamWords[] = {"compat", "fast", "masks", "rows"};
constexpr ScalarSlot kScalars[] = {
    {"eps", offsetof(Args, eps), ScalarSlot::Kind::f32, {}, {1e-5f}},
    {"activation", offsetof(Args, activation), ScalarSlot::Kind::i32, kActivationWords},
    {"concat_u", offsetof(Args, concat_u), ScalarSlot::Kind::i32},
    {"concat_x", offsetof(Args, concat_x), ScalarSlot::Kind::i32},
    {"silu_u", offsetof(Args, silu_u), ScalarSlot::Kind::i32},
    {"num_groups", offsetof(Args, num_groups), ScalarSlot::Kind::i32},
    {"norm", offsetof(Args, norm), ScalarSlot::Kind::i32, kNormWords},
    {"dropout_stream", offsetof(Args, dropout_stream), ScalarSlot::Kind::i32, kStreamWords},
    {"dropout_ratio", offsetof(Args, dropout_ratio), ScalarSlot::Kind::f32},
    {"seed", offsetof(Args, seed), ScalarSlot::Kind::i64},
    {"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords}};

void check_enum(const char* name, int value, int last, const char* values) {
  if (value < 0 || value > last) fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: it must be {}", name, value, values);
}

/// Flags that do nothing are cleared, so that equal work has one key.
void check_flags(Args& args) {
  checks::flag("concat_u", args.concat_u);
  checks::flag("concat_x", args.concat_x);
  checks::flag("silu_u", args.silu_u);
  checks::not_negative("num_groups", args.num_groups, "0 means layer norm over the row");
  const int activation = checks::code(args.activation);
  if (activation < HSTU_ACTIVATION_NONE || activation > HSTU_ACTIVATION_SIGMOID)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: norm_mul covers NONE (0), SILU (1) and SIGMOID (2)",
         activation);
  check_enum("norm", checks::code(args.norm), HSTU_NORM_SWISH, "LAYER (0), RMS (1) or SWISH (2)");
  check_enum("dropout_stream", checks::code(args.dropout_stream), HSTU_DROPOUT_ROWS,
             "COMPAT (0), FAST (1), MASKS (2) or ROWS (3)");
  checks::dropout_ratio("dropout_ratio", args.dropout_ratio);
  if (args.num_groups > 0) {  // the multiplier is u', and segments come together
    args.activation = HSTU_ACTIVATION_NONE;
    args.concat_u = args.concat_x = args.concat_u & args.concat_x;
  } else if (args.concat_u == 0) {
    args.silu_u = 0;  // it acts on the segment u' only
  }
}

/// Length of the part of a row that has statistics of its own.
int64_t normed_length(const Args& args, int64_t dim) {
  constexpr int32_t kMostQuantised = 1024;  // whose moments a block keeps
  if (args.num_groups == 0) return dim;
  if (args.num_groups > kMostQuantised && fp8::stores(args.out.dtype))
    fail(HSTU_ERROR_UNSUPPORTED, "num_groups = {}: kernels with an out in FP8 cover up to {}", args.num_groups,
         kMostQuantised);
  if (dim % args.num_groups != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_groups = {}: it must divide attn.shape[1] = {}", args.num_groups, dim);
  return dim / args.num_groups;
}

/// weight, and bias unless the norm has none.
void check_weights(Args& args, const checks::Tensor& attn, const checks::Tensor& out) {
  const int64_t count = args.num_groups > 0 ? args.num_groups : attn.t.shape[1];
  const char* what = args.num_groups > 0 ? "num_groups" : "attn.shape[1]";
  const checks::Tensor weight = checks::weight("weight", args.weight, count, what, out);
  if (args.norm != HSTU_NORM_RMS)
    checks::same_dtype(checks::weight("bias", args.bias, count, what, out), weight);
  else if (checks::given("bias", args.bias))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "bias is there: norm = RMS has none; leave it out");
}

checks::Tensor check_out(Args& args, const checks::Tensor& attn, const checks::Tensor& u) {
  const checks::Tensor out = checks::required<2>("out", args.out);
  if (!fp8::stores(out.t.dtype)) checks::same_dtype(out, attn);
  checks::extent(out, 0, attn.t.shape[0], "attn.shape[0]");
  int64_t columns = 0;
  if (__builtin_mul_overflow(attn.t.shape[1], 1 + args.concat_u + args.concat_x, &columns))
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "attn.shape[1] = {}: a row of out, segments * attn.shape[1], overflows 64 bits; make it smaller",
         attn.t.shape[1]);
  checks::extent(out, 1, columns, "segments (1 + concat_u + concat_x) * attn.shape[1]");
  checks::no_self_overlap(out);
  checks::disjoint(out, attn);
  checks::disjoint(out, u);
  return out;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {norm_mul::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor attn = checks::required<2>("attn", args.attn), u = checks::required<2>("u", args.u);
  checks::floating(attn);
  checks::same_dtype(u, attn);
  checks::extent(u, 0, attn.t.shape[0], "attn.shape[0]");
  checks::extent(u, 1, attn.t.shape[1], "attn.shape[1]");
  check_flags(args);
  const checks::Tensor out = check_out(args, attn, u);
  checks::disjoint(checks::quantised(attn, out, out.t.shape[0], out.t.shape[1], args.descale, args.scaling), u);
  check_weights(args, attn, out);
  args.eps = checks::eps(args.eps);

  const int64_t dim = attn.t.shape[1];
  checks::Vector vector(attn.t.dtype);
  // Segments of out start at multiples of dim, groups at multiples of their length.
  vector.tensor(attn.t).tensor(u.t).tensor(out.t).length(normed_length(args, dim));
  if (args.num_groups == 0) vector.address(args.weight);
  if (args.num_groups == 0 && present(args.bias)) vector.address(args.bias);

  Problem problem{Op::norm_mul, {}};
  problem[norm_mul::kDtype] = attn.t.dtype;
  problem[norm_mul::kWeightDtype] = args.weight.dtype;
  if (fp8::stores(out.t.dtype)) problem[norm_mul::kFp8] = out.t.dtype;
  problem[norm_mul::kScaling] = args.scaling;
  problem[norm_mul::kDim] = checks::field(attn, 1);
  problem[norm_mul::kGroups] = args.num_groups;
  problem[norm_mul::kActivation] = args.activation;
  problem[norm_mul::kConcatU] = args.concat_u;
  problem[norm_mul::kConcatX] = args.concat_x;
  problem[norm_mul::kSiluU] = args.silu_u;
  problem[norm_mul::kNorm] = args.norm;
  problem[norm_mul::kDropout] = args.dropout_ratio > 0 ? 1 + args.dropout_stream : 0;
  problem[norm_mul::kVector] = vector.elements();
  problem[norm_mul::kRows] = bucket(attn.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.attn.shape[0]) * static_cast<double>(args.attn.shape[1]);
  const int segments = 1 + args.concat_u + args.concat_x;
  const double weights = static_cast<double>(args.weight.shape[0] + args.bias.shape[0]);
  // Sum; difference, square and sum; scale; weight and bias; product.
  return {.flops = elements * 8,
          .bytes = elements * (2 * size_of(args.attn.dtype) + segments * size_of(args.out.dtype)) +
                   weights * size_of(args.weight.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.attn.shape[0]), {&args.attn, &args.u, &args.out});
  if (present(args.descale)) fp8::shorten_descale(args.descale, args.scaling, args.attn.shape[0]);
}

namespace reference {
namespace {

/// norm(attn) * weight + bias; under group norm over equal parts of the row, each with one weight and bias.
Row normed(const Row& attn, const Row& weight, const Row& bias, const Args& args) {
  Row t = attn;
  const auto dim = static_cast<int64_t>(t.size()), parts = std::max<int64_t>(args.num_groups, 1), part = dim / parts;
  for (int64_t g = 0; g < parts; ++g)
    (args.norm == HSTU_NORM_RMS ? normalise_rms : normalise)(t.data() + g * part, part, args.eps);
  for (size_t i = 0; i < t.size(); ++i) {
    const size_t w = args.num_groups > 0 ? i / static_cast<size_t>(part) : i;
    t[i] = t[i] * weight[w] + bias[w];
    if (args.norm == HSTU_NORM_SWISH) t[i] = attn[i] * sigmoid(t[i]);
  }
  return t;
}

/// The random word that decides over a column of a segment; segments in all.
uint32_t word_at(const Args& args, int64_t row, int64_t segment, int64_t segments, int64_t column) {
  const int64_t dim = args.attn.shape[1];
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(dim)));
  int64_t counter = 0, word = 0;
  switch (args.dropout_stream) {
    case HSTU_DROPOUT_COMPAT:
      counter = args.num_groups > 0 ? row * segments * dim + segment * dim : 3 * row * power + segment * dim;
      break;
    case HSTU_DROPOUT_FAST:
      counter = 3 * row * power;
      word = segment;
      break;
    case HSTU_DROPOUT_MASKS:
      counter = row / 4 * segments * power + (segments - 1 - segment) * power;
      word = row % 4;
      break;
    case HSTU_DROPOUT_ROWS:
      counter = row * power + segment * dim;
      break;
  }
  return philox(static_cast<uint64_t>(counter + column), static_cast<uint64_t>(args.seed))[static_cast<size_t>(word)];
}

void drop(Row& x, const Args& args, int64_t row, int64_t segment, int64_t segments) {
  if (args.dropout_ratio == 0) return;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = kept(x[i], word_at(args, row, segment, segments, static_cast<int64_t>(i)), args.dropout_ratio);
}

Row activated(const Row& x, hstu_activation activation) {
  Row out(x.size());
  std::transform(x.begin(), x.end(), out.begin(), [&](double value) { return activate(activation, value); });
  return out;
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t rows = args.attn.shape[0], dim = args.attn.shape[1];
  const int64_t weights = args.weight.shape[0], segments = 1 + args.concat_u + args.concat_x;
  const Row weight = load_vector(args.weight, weights, 1), bias = load_vector(args.bias, weights, 0);
  const Output out(args.out, exact);
  const RowQuantiser quantiser(args.out, args.descale, args.scaling, exact);
  parallel_for(rows, 30.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    const Row attn = load_row(args.attn, row), u = load_row(args.u, row);
    const Row copied = activated(u, args.silu_u ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE);
    const Row factor = args.num_groups > 0 ? copied : activated(u, args.activation);
    Row product = normed(attn, weight, bias, args);
    for (size_t i = 0; i < product.size(); ++i) product[i] *= factor[i];

    Row whole;
    int64_t segment = 0;
    const auto append = [&](Row values) {
      drop(values, args, row, segment++, segments);
      whole.insert(whole.end(), values.begin(), values.end());
    };
    if (args.concat_u) append(copied);
    if (args.concat_x) append(attn);
    append(product);
    quantiser.run(whole, row);
    out.write(row, 0, segments * dim, whole.data());
  });
}

}  // namespace reference

}  // namespace hstujit
