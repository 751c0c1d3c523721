// RMS norm with rotary position embedding: facts, checks, key, cost and reference.
#include "operators/norm/rms_norm_rope.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_rms_norm_rope_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(3, kFloating)},
    {"weight", offsetof(Args, weight), TensorRole::input, of_rank(1, kFloating)},
    {"cosine", offsetof(Args, cosine), TensorRole::input, of_rank(2, kFloating)},
    {"sine", offsetof(Args, sine), TensorRole::input, of_rank(2, kFloating)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(3, kFloating | kFp8)},
    {"descale", offsetof(Args, descale), TensorRole::output, of_rank(1, kF32).or_rank(2, 2).or_absent()}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32, {}, {1e-6f}},
                                   {"head_dim", offsetof(Args, head_dim), ScalarSlot::Kind::i64, {}, kFollows},
                                   {"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kFp8ScalingWords}};

void check_head_dim(Args& args) {
  if (args.head_dim == 0) args.head_dim = args.cosine.shape[1];
  const int64_t hidden = args.x.shape[2], head_dim = args.head_dim;
  if (head_dim < 2 || head_dim % 2 != 0 || hidden % head_dim != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "head_dim = {}: it must be positive, even and divide x.shape[2] = {}", head_dim,
         hidden);
}

/// cosine or sine, [length, head_dim or half of it].
checks::Tensor check_angles(const char* name, hstu_tensor& t, const Args& args, const checks::Tensor& y) {
  const checks::Tensor angles = checks::required<2>(name, t);
  checks::floating(angles);
  checks::extent(angles, 0, args.x.shape[1], "x.shape[1]");
  checks::disjoint(y, angles);
  return angles;
}

void check_columns(const checks::Tensor& angles, int64_t head_dim) {
  if (angles.t.shape[1] != head_dim && angles.t.shape[1] != head_dim / 2)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[1] = {}: it must be head_dim = {} or half of it", angles.name,
         angles.t.shape[1], head_dim);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {rms_norm_rope::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<3>("x", args.x), out = checks::required<3>("out", args.out);
  checks::floating(x);
  const bool quantised = fp8::stores(args.out.dtype);
  if (!quantised) checks::same_dtype(out, x);
  for (int d = 0; d < 3; ++d) checks::extent(out, d, args.x.shape[d], "x's extent");
  checks::no_self_overlap(out);
  if (quantised)
    checks::disjoint(out, x);
  else
    checks::disjoint_or_same(out, x);
  checks::quantised(x, out, checks::product(x, 0, 1), args.x.shape[2], args.descale, args.scaling);
  checks::weight("weight", args.weight, args.x.shape[2], "x.shape[2]", out);
  const checks::Tensor cosine = check_angles("cosine", args.cosine, args, out);
  const checks::Tensor sine = check_angles("sine", args.sine, args, out);
  checks::same_dtype(sine, cosine);
  check_head_dim(args);
  check_columns(cosine, args.head_dim);
  check_columns(sine, args.head_dim);
  args.eps = checks::given_or(args.eps, 1e-6f);
  checks::check_eps(static_cast<double>(args.eps));

  const auto aligned = [](checks::Vector& v, const hstu_tensor& t) { v.address(t).length(t.stride[0]); };
  checks::Vector vector(args.x.dtype);
  vector.tensor(args.x).tensor(args.out).length(args.head_dim / 2).address(args.weight);
  aligned(vector, args.cosine);
  aligned(vector, args.sine);

  Problem problem{Op::rms_norm_rope, {}};
  problem[rms_norm_rope::kDtype] = args.x.dtype;
  problem[rms_norm_rope::kWeightDtype] = args.weight.dtype;
  problem[rms_norm_rope::kAngleDtype] = args.cosine.dtype;
  if (quantised) problem[rms_norm_rope::kFp8] = args.out.dtype;
  problem[rms_norm_rope::kScaling] = args.scaling;
  problem[rms_norm_rope::kDim] = checks::field(x, 2);
  problem[rms_norm_rope::kHeadDim] = static_cast<int32_t>(args.head_dim);
  problem[rms_norm_rope::kVector] = vector.elements();
  problem[rms_norm_rope::kBatch] = bucket(args.x.shape[0]);
  problem[rms_norm_rope::kLength] = bucket(args.x.shape[1]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double length = static_cast<double>(args.x.shape[1]), hidden = static_cast<double>(args.x.shape[2]);
  const double elements = static_cast<double>(args.x.shape[0]) * length * hidden;
  const double angles = length * static_cast<double>(args.head_dim);  // cosines and sines of half a head
  // Square and sum; scale; weight; rotate.
  return {.flops = elements * 7,
          .bytes = elements * (size_of(args.x.dtype) + size_of(args.out.dtype)) + hidden * size_of(args.weight.dtype) +
                   angles * size_of(args.cosine.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
  if (present(args.descale)) fp8::shorten_descale(args.descale, args.scaling, args.x.shape[0] * args.x.shape[1]);
}

namespace reference {
namespace {

/// Rotates each head's pairs of elements, half a head apart, by their angles.
void rotate_heads(Row& x, int64_t head_dim, const Row& cosine, const Row& sine) {
  const size_t half = cosine.size();
  for (size_t head = 0; head < x.size(); head += static_cast<size_t>(head_dim))
    for (size_t d = head; d < head + half; ++d) {
      const double a = x[d], b = x[d + half], c = cosine[d - head], s = sine[d - head];
      x[d] = a * c - b * s;
      x[d + half] = b * c + a * s;
    }
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const int64_t batch = args.x.shape[0], length = args.x.shape[1], hidden = args.x.shape[2], half = args.head_dim / 2;
  const Row weight = load_vector(args.weight, hidden, 1);
  const Output out(args.out, exact);
  const RowQuantiser quantiser(args.out, args.descale, args.scaling, exact);
  parallel_for(batch * length, 20.0 * static_cast<double>(batch * length * hidden), [&](int64_t row) {
    const int64_t b = row / length, s = row % length;
    Row x(static_cast<size_t>(hidden)), cosine(static_cast<size_t>(half)), sine(cosine);
    load(args.x, b * args.x.stride[0] + s * args.x.stride[1], hidden, x.data());
    load(args.cosine, s * args.cosine.stride[0], half, cosine.data());
    load(args.sine, s * args.sine.stride[0], half, sine.data());
    normalise_rms(x.data(), hidden, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= weight[i];
    rotate_heads(x, args.head_dim, cosine, sine);
    quantiser.run(x, row);
    out.write(b, 0, hidden, x.data(), s);
  });
}

}  // namespace reference

}  // namespace hstujit
