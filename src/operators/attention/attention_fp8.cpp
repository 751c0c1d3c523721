// Jagged HSTU attention in FP8: facts, checks, key, cost and reference. The reference is that of attention on the
// dequantised values.
#include "operators/attention/attention_fp8.hpp"

#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/integers.hpp"
#include "operators/operators.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <vector>

namespace hstujit {
namespace {

using Args = hstu_attention_fp8_args;

constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, q), TensorRole::input, of_rank(3, kE4m3)},
    {"k", offsetof(Args, k), TensorRole::input, of_rank(3, kE4m3)},
    {"v", offsetof(Args, v), TensorRole::input, of_rank(3, kE4m3)},
    {"q_descale", offsetof(Args, q_descale), TensorRole::input, of_rank(1, kF32).or_rank(2, 2)},
    {"k_descale", offsetof(Args, k_descale), TensorRole::input, of_rank(1, kF32).or_rank(2, 2)},
    {"v_descale", offsetof(Args, v_descale), TensorRole::input, of_rank(1, kF32).or_rank(2, 2)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(3, k16Bit)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"num_targets", offsetof(Args, mask.num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"attn_scale", offsetof(Args, attn_scale), TensorRole::input, of_rank(1, kF32).or_absent()},
    {"intervals", offsetof(Args, mask.intervals), TensorRole::integer, of_rank(3, kI32).or_absent()},
    {"num_contexts", offsetof(Args, mask.num_contexts), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr std::string_view kScalingWords[] = {"tensor", "head", "sequence", "block"};
constexpr ScalarSlot kOwnScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32, {}, kFollows},
    {"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kScalingWords},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64, {}, kMustBeSet},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64, {}, kFollows},
    {"num_softmax_heads", offsetof(Args, num_softmax_heads), ScalarSlot::Kind::i32},
    {"fast_sums", offsetof(Args, fast_sums), ScalarSlot::Kind::i32}};
constexpr auto kScalars = joined(kOwnScalars, attention_checks::kMaskScalars<Args>);
enum : size_t { kSeqOffsets = 7, kNumTargets = 8 };  // slots of kTensors

void check_tensors(const checks::Tensor& q, const checks::Tensor& k, const checks::Tensor& v,
                   const checks::Tensor& out) {
  for (const checks::Tensor* in : {&q, &k, &v})
    if (in->t.dtype != HSTU_DTYPE_E4M3) checks::refuse_dtype(*in, "it must be e4m3");
  if (!is_16_bit(out.t.dtype)) checks::refuse_dtype(out, "it must be bf16 or f16");
  for (const checks::Tensor* other : {&k, &v, &out}) checks::extent(*other, 0, q.t.shape[0], "total = q.shape[0]");
  attention_checks::heads(q, k, v, out);
}

/// Of a tensor with this many heads, which `what` explains.
void check_descale(const char* name, hstu_tensor& t, const Args& args, int64_t heads, const char* what,
                   const checks::Tensor& out) {
  const auto scaling = args.scaling;
  const bool matrix = scaling == HSTU_FP8_ATTENTION_SEQUENCE || scaling == HSTU_FP8_ATTENTION_BLOCK;
  const checks::Tensor descale = matrix ? checks::required_any_strides<2>(name, t) : checks::required<1>(name, t);
  checks::is_f32(descale);
  switch (scaling) {
    case HSTU_FP8_ATTENTION_TENSOR:
      checks::extent(descale, 0, 1, "1, one scale for the tensor");
      break;
    case HSTU_FP8_ATTENTION_HEAD:
      checks::extent(descale, 0, heads, what);
      break;
    case HSTU_FP8_ATTENTION_SEQUENCE:
      checks::extent(descale, 0, args.seq_offsets.shape[0] - 1, "batch = seq_offsets.shape[0] - 1");
      break;
    case HSTU_FP8_ATTENTION_BLOCK:
      checks::extent(descale, 0, ceil_div(args.q.shape[0], fp8::kSpan), "ceil(total / 128)");
      break;
  }
  if (matrix) checks::extent(descale, 1, heads, what);
  checks::disjoint(out, descale);
}

void check_scaling(Args& args, const checks::Tensor& out) {
  const int scaling = checks::code(args.scaling);
  if (scaling < HSTU_FP8_ATTENTION_TENSOR || scaling > HSTU_FP8_ATTENTION_BLOCK)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "scaling = {}: use TENSOR (0), HEAD (1), SEQUENCE (2) or BLOCK (3)", scaling);
  check_descale("q_descale", args.q_descale, args, args.q.shape[1], "num_heads = q.shape[1]", out);
  check_descale("k_descale", args.k_descale, args, args.k.shape[1], "num_kv_heads = k.shape[1]", out);
  check_descale("v_descale", args.v_descale, args, args.k.shape[1], "num_kv_heads = k.shape[1]", out);
}

}  // namespace

namespace attention_fp8 {

hstu_attention_args as_attention(const Args& args) {
  hstu_attention_args a{};
  a.struct_size = sizeof a;
  a.q = args.q, a.k = args.k, a.v = args.v, a.out = args.out;
  a.seq_offsets = args.seq_offsets, a.attn_scale = args.attn_scale;
  a.mask = args.mask;
  a.alpha = args.alpha;
  a.max_seq_len = args.max_seq_len, a.scaling_seqlen = args.scaling_seqlen;
  return a;
}

int64_t unit_stride(const hstu_tensor& descale, hstu_fp8_attention_scaling scaling) {
  return scaling == HSTU_FP8_ATTENTION_SEQUENCE || scaling == HSTU_FP8_ATTENTION_BLOCK ? descale.stride[0] : 0;
}
int64_t head_stride(const hstu_tensor& descale, hstu_fp8_attention_scaling scaling) {
  if (scaling == HSTU_FP8_ATTENTION_TENSOR) return 0;
  return descale.stride[scaling == HSTU_FP8_ATTENTION_HEAD ? 0 : 1];
}

}  // namespace attention_fp8

OperatorFacts facts_of(const Args*) { return {attention_fp8::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), k = checks::required<3>("k", args.k);
  const checks::Tensor v = checks::required<3>("v", args.v), out = checks::required<3>("out", args.out);
  check_tensors(q, k, v, out);
  Problem problem = attention::problem_of(Op::attention_fp8, args, q, v, out);
  check_scaling(args, out);
  checks::flag("fast_sums", args.fast_sums);
  attention_checks::no_softmax_heads(args.num_softmax_heads);
  if (checks::given("rab", args.rab))
    fail(HSTU_ERROR_UNSUPPORTED, "rab is there: attention_fp8 takes no relative bias yet; leave it out");
  problem[attention::kVector] = checks::Vector(16).tensor(q.t).tensor(k.t).tensor(v.t).elements();
  problem[attention_fp8::kScaling] = args.scaling;
  problem[attention_fp8::kFastSums] = args.fast_sums;
  problem[attention_fp8::kHeadsPerKv] = attention_checks::heads_per_kv(q, k);
  problem[attention_fp8::kVectorOut] = checks::Vector(out.t.dtype).tensor(out.t).elements();
  return problem;
}

Cost cost_of(const Args& args) {
  const Cost as_bytes = cost_of(attention_fp8::as_attention(args));  // whose out is counted as e4m3, too
  const double rows = static_cast<double>(integer_at(args.seq_offsets, args.seq_offsets.shape[0] - 1));
  const double outputs = rows * static_cast<double>(args.q.shape[1]) * static_cast<double>(args.v.shape[2]);
  const double scales =
      fp8::descale_bytes(args.q_descale) + fp8::descale_bytes(args.k_descale) + fp8::descale_bytes(args.v_descale);
  return {.flops = as_bytes.flops, .bytes = as_bytes.bytes + outputs * (size_of(args.out.dtype) - 1) + scales};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

namespace reference {
namespace {

/// The values of a tensor times their descales, in f32: exact but for one rounding.
class Dequantised {
 public:
  Dequantised(const Args& args, const hstu_tensor& t, const hstu_tensor& descale)
      : values_(static_cast<size_t>(t.shape[0] * t.shape[1] * t.shape[2])) {
    const int64_t heads = t.shape[1], dim = t.shape[2], batch = args.seq_offsets.shape[0] - 1;
    const auto* scales = static_cast<const float*>(descale.data);
    std::vector<double> row(static_cast<size_t>(dim));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = integer_at(args.seq_offsets, b); i < integer_at(args.seq_offsets, b + 1); ++i)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t unit = args.scaling == HSTU_FP8_ATTENTION_BLOCK ? i / fp8::kSpan : b;
          const double scale = static_cast<double>(scales[unit * attention_fp8::unit_stride(descale, args.scaling) +
                                                          h * attention_fp8::head_stride(descale, args.scaling)]);
          load(t, i * t.stride[0] + h * t.stride[1], dim, row.data());
          float* to = &values_[static_cast<size_t>((i * heads + h) * dim)];
          for (int64_t d = 0; d < dim; ++d) to[d] = static_cast<float>(row[static_cast<size_t>(d)] * scale);
        }
    tensor = {values_.data(), HSTU_DTYPE_F32, 3, 0, {t.shape[0], heads, dim}, {heads * dim, dim, 1}};
  }
  Dequantised(const Dequantised&) = delete;
  Dequantised& operator=(const Dequantised&) = delete;

  hstu_tensor tensor{};

 private:
  std::vector<float> values_;
};

}  // namespace

void run(const Args& args, double* const* exact) {
  check_offsets("seq_offsets", args.seq_offsets, args.q.shape[0], "total");  // which say what is dequantised
  const Dequantised q(args, args.q, args.q_descale), k(args, args.k, args.k_descale), v(args, args.v, args.v_descale);
  hstu_attention_args attention = attention_fp8::as_attention(args);
  attention.q = q.tensor, attention.k = k.tensor, attention.v = v.tensor;
  double* const outputs[] = {exact ? exact[0] : nullptr, nullptr, nullptr};  // attention has lse and moments
  run(attention, exact ? outputs : nullptr);
}

}  // namespace reference

}  // namespace hstujit
