// Jagged HSTU attention in FP8 as a problem: checks, key and cost.
#include "problem/attention_checks.hpp"
#include "problem/attention_fields.hpp"
#include "problem/attention_fp8.hpp"
#include "problem/checks.hpp"
#include "problem/edge_case.hpp"
#include "problem/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_attention_fp8_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype},         {"head_dim_qk", FieldKind::exact},  {"head_dim_v", FieldKind::exact},
    {"num_heads", FieldKind::exact},     {"offset_dtype", FieldKind::dtype}, {"target_dtype", FieldKind::dtype},
    {"mask", FieldKind::exact},          {"contextual", FieldKind::exact},   {"max_attn_len", FieldKind::exact},
    {"min_full_attn", FieldKind::exact}, {"attn_scale", FieldKind::exact},   {"vector", FieldKind::exact},
    {"batch", FieldKind::bucket},        {"total", FieldKind::bucket},       {"max_seq_len", FieldKind::bucket},
    {"target_groups", FieldKind::exact}, {"intervals", FieldKind::exact},    {"scaling", FieldKind::exact},
    {"vector_out", FieldKind::exact},    {"fast_sums", FieldKind::exact},    {"heads_per_kv", FieldKind::exact}};
constexpr TensorSlot kTensors[] = {{"q", offsetof(Args, q), TensorRole::input},
                                   {"k", offsetof(Args, k), TensorRole::input},
                                   {"v", offsetof(Args, v), TensorRole::input},
                                   {"q_descale", offsetof(Args, q_descale), TensorRole::input},
                                   {"k_descale", offsetof(Args, k_descale), TensorRole::input},
                                   {"v_descale", offsetof(Args, v_descale), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output},
                                   {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer},
                                   {"num_targets", offsetof(Args, num_targets), TensorRole::integer},
                                   {"attn_scale", offsetof(Args, attn_scale), TensorRole::input},
                                   {"intervals", offsetof(Args, intervals), TensorRole::integer},
                                   {"num_contexts", offsetof(Args, num_contexts), TensorRole::integer}};
constexpr std::string_view kScalingWords[] = {"tensor", "head", "sequence", "block"};
constexpr ScalarSlot kScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32},
    {"mask", offsetof(Args, mask), ScalarSlot::Kind::i32, attention_checks::kMaskWords},
    {"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i32, kScalingWords},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64},
    {"contextual_seq_len", offsetof(Args, contextual_seq_len), ScalarSlot::Kind::i64},
    {"max_attn_len", offsetof(Args, max_attn_len), ScalarSlot::Kind::i64},
    {"min_full_attn_seq_len", offsetof(Args, min_full_attn_seq_len), ScalarSlot::Kind::i64},
    {"target_group_size", offsetof(Args, target_group_size), ScalarSlot::Kind::i64},
    {"window_left", offsetof(Args, window_left), ScalarSlot::Kind::i64},
    {"window_right", offsetof(Args, window_right), ScalarSlot::Kind::i64},
    {"fast_sums", offsetof(Args, fast_sums), ScalarSlot::Kind::i32}};
enum : size_t { kSeqOffsets = 7, kNumTargets = 8 };  // slots of kTensors

void check_heads(const checks::Tensor& q, const checks::Tensor& k, const checks::Tensor& v, const checks::Tensor& out) {
  for (const checks::Tensor* in : {&q, &k, &v})
    if (in->t.dtype != HSTU_DTYPE_E4M3) checks::refuse_dtype(*in, "it must be e4m3");
  if (out.t.dtype != HSTU_DTYPE_BF16 && out.t.dtype != HSTU_DTYPE_F16)
    checks::refuse_dtype(out, "it must be bf16 or f16");
  for (const checks::Tensor* other : {&k, &v, &out}) checks::extent(*other, 0, q.t.shape[0], "total = q.shape[0]");
  checks::extent(out, 1, q.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(v, 1, k.t.shape[1], "num_kv_heads = k.shape[1]");
  attention_checks::head_dim("head_dim_qk", q);
  attention_checks::head_dim("head_dim_v", v);
  checks::extent(k, 2, q.t.shape[2], "head_dim_qk = q.shape[2]");
  checks::extent(out, 2, v.t.shape[2], "head_dim_v = v.shape[2]");
  checks::no_self_overlap(out);
  for (const checks::Tensor* in : {&q, &k, &v}) checks::disjoint(out, *in);
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
      checks::extent(descale, 0, fp8::ceil_div(args.q.shape[0], fp8::kSpan), "ceil(total / 128)");
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
  a.seq_offsets = args.seq_offsets, a.num_targets = args.num_targets, a.attn_scale = args.attn_scale;
  a.alpha = args.alpha;
  a.mask = args.mask;
  a.max_seq_len = args.max_seq_len, a.scaling_seqlen = args.scaling_seqlen;
  a.contextual_seq_len = args.contextual_seq_len;
  a.max_attn_len = args.max_attn_len, a.min_full_attn_seq_len = args.min_full_attn_seq_len;
  a.target_group_size = args.target_group_size;
  a.window_left = args.window_left, a.window_right = args.window_right;
  a.intervals = args.intervals, a.num_contexts = args.num_contexts;
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

OperatorFacts facts_of(const Args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), k = checks::required<3>("k", args.k);
  const checks::Tensor v = checks::required<3>("v", args.v), out = checks::required<3>("out", args.out);
  check_heads(q, k, v, out);
  const checks::Tensor offsets = attention_checks::offsets("seq_offsets", args.seq_offsets, out);
  const int64_t batch = offsets.t.shape[0] - 1;
  check_scaling(args, out);
  attention_checks::targets(args.num_targets, batch, out);
  const int32_t contextual = attention_checks::contexts(args.num_contexts, args.contextual_seq_len, batch, out);
  const int32_t scale = attention_checks::scale(args.attn_scale, out);
  attention_checks::lengths(args.max_seq_len, args.scaling_seqlen);
  const int32_t intervals = attention_checks::mask(attention_checks::mask_options(args), q, out);
  args.alpha = attention_checks::alpha(args.alpha, q.t.shape[2]);
  checks::flag("fast_sums", args.fast_sums);
  const int32_t heads_per_kv = attention_checks::heads_per_kv(q, k);

  Problem problem{Op::hstu_attention_fp8, {}};
  problem[attention::kDtype] = out.t.dtype;
  problem[attention::kHeadDimQk] = checks::field(q, 2);
  problem[attention::kHeadDimV] = checks::field(v, 2);
  problem[attention::kNumHeads] = checks::field(q, 1);
  problem[attention::kOffsetDtype] = offsets.t.dtype;
  problem[attention::kTargetDtype] = args.num_targets.dtype;
  problem[attention::kMask] = args.mask;
  problem[attention::kContextual] = contextual;
  problem[attention::kMaxAttnLen] = args.max_attn_len > 0;
  problem[attention::kMinFullAttn] = args.min_full_attn_seq_len > 0;
  problem[attention::kAttnScale] = scale;
  problem[attention::kVector] = checks::Vector(16).tensor(q.t).tensor(k.t).tensor(v.t).elements();
  checks::field(offsets, 0);  // kernels count sequences in 32 bits
  problem[attention::kBatch] = bucket(batch);
  problem[attention::kTotal] = bucket(q.t.shape[0]);
  problem[attention::kMaxSeqLen] = bucket(args.max_seq_len);
  problem[attention::kTargetGroups] = args.target_group_size > 1;
  problem[attention::kIntervals] = intervals;
  problem[attention_fp8::kScaling] = args.scaling;
  problem[attention_fp8::kFastSums] = args.fast_sums;
  problem[attention_fp8::kHeadsPerKv] = heads_per_kv;
  problem[attention_fp8::kVectorOut] = checks::Vector(out.t.dtype).tensor(out.t).elements();
  return problem;
}

Work work_of(const Args& args) {
  const Work as_bytes = work_of(attention_fp8::as_attention(args));  // whose out is counted as e4m3, too
  const double rows = static_cast<double>(integer_at(args.seq_offsets, args.seq_offsets.shape[0] - 1));
  const double outputs = rows * static_cast<double>(args.q.shape[1]) * static_cast<double>(args.v.shape[2]);
  const double scales =
      fp8::descale_bytes(args.q_descale) + fp8::descale_bytes(args.k_descale) + fp8::descale_bytes(args.v_descale);
  return {.flops = as_bytes.flops, .bytes = as_bytes.bytes + outputs * (size_of(args.out.dtype) - 1) + scales};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

}  // namespace hstujit
