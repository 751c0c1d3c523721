// Jagged HSTU attention as a problem: checks, key and cost.
#include "problem/attention_fields.hpp"
#include "problem/checks.hpp"
#include "problem/edge_case.hpp"
#include "problem/operators.hpp"
#include "reference/mask.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using Args = hstu_attention_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype},         {"head_dim_qk", FieldKind::exact},  {"head_dim_v", FieldKind::exact},
    {"num_heads", FieldKind::exact},     {"offset_dtype", FieldKind::dtype}, {"target_dtype", FieldKind::dtype},
    {"mask", FieldKind::exact},          {"contextual", FieldKind::exact},   {"max_attn_len", FieldKind::exact},
    {"min_full_attn", FieldKind::exact}, {"attn_scale", FieldKind::exact},   {"vector", FieldKind::exact},
    {"batch", FieldKind::bucket},        {"total", FieldKind::bucket},       {"max_seq_len", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"q", offsetof(Args, q), TensorRole::input},
                                   {"k", offsetof(Args, k), TensorRole::input},
                                   {"v", offsetof(Args, v), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output},
                                   {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer},
                                   {"num_targets", offsetof(Args, num_targets), TensorRole::integer},
                                   {"attn_scale", offsetof(Args, attn_scale), TensorRole::input}};
constexpr std::string_view kMaskWords[] = {"causal", "full"};
constexpr ScalarSlot kScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32},
    {"mask", offsetof(Args, mask), ScalarSlot::Kind::i32, kMaskWords},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64},
    {"contextual_seq_len", offsetof(Args, contextual_seq_len), ScalarSlot::Kind::i64},
    {"max_attn_len", offsetof(Args, max_attn_len), ScalarSlot::Kind::i64},
    {"min_full_attn_seq_len", offsetof(Args, min_full_attn_seq_len), ScalarSlot::Kind::i64}};

enum : size_t { kSeqOffsets = 4, kNumTargets = 5 };  // slots of kTensors

enum : int32_t { kNoScale = 0, kOneScale = 1, kRowScale = 2 };

/// Kernels count positions in 32 bits; larger counts mean the same as this one for every sequence that can be computed.
constexpr int64_t kManyPositions = int64_t{1} << 30;

void check_head_dim(const char* name, const checks::Tensor& a) {
  if (a.t.shape[2] < 1 || a.t.shape[2] > 256)
    fail(HSTU_ERROR_UNSUPPORTED, "{} = {} ({}.shape[2]): attention covers 1 to 256", name, a.t.shape[2], a.name);
}

void check_heads(const checks::Tensor& q, const checks::Tensor& k, const checks::Tensor& v, const checks::Tensor& out) {
  checks::floating(q);
  for (const checks::Tensor* other : {&k, &v, &out}) {
    checks::same_dtype(*other, q);
    checks::extent(*other, 0, q.t.shape[0], "total = q.shape[0]");
    checks::extent(*other, 1, q.t.shape[1], "num_heads = q.shape[1]");
  }
  check_head_dim("head_dim_qk", q);
  check_head_dim("head_dim_v", v);
  checks::extent(k, 2, q.t.shape[2], "head_dim_qk = q.shape[2]");
  checks::extent(out, 2, v.t.shape[2], "head_dim_v = v.shape[2]");
  checks::no_self_overlap(out);
  for (const checks::Tensor* in : {&q, &k, &v}) checks::disjoint(out, *in);
}

checks::Tensor check_offsets(hstu_tensor& t, const checks::Tensor& out) {
  const checks::Tensor offsets = checks::required<1>("seq_offsets", t);
  checks::integer(offsets);
  if (t.shape[0] < 1)
    fail(HSTU_ERROR_SHAPE_MISMATCH,
         "seq_offsets.shape[0] = 0: it must be batch + 1, so one offset, 0, for no sequence");
  checks::disjoint(out, offsets);
  return offsets;
}

void check_targets(hstu_tensor& t, int64_t batch, const checks::Tensor& out) {
  if (!checks::given("num_targets", t)) return;
  const checks::Tensor targets = checks::required<1>("num_targets", t);
  checks::integer(targets);
  checks::extent(targets, 0, batch, "batch = seq_offsets.shape[0] - 1");
  checks::disjoint(out, targets);
}

int32_t check_scale(hstu_tensor& t, const checks::Tensor& out) {
  if (!checks::given("attn_scale", t)) return kNoScale;
  const checks::Tensor scale = checks::required<1>("attn_scale", t);
  checks::is_f32(scale);
  if (t.shape[0] != 1) checks::extent(scale, 0, out.t.shape[0], "1 or total = q.shape[0]");
  checks::disjoint(out, scale);
  return t.shape[0] == 1 ? kOneScale : kRowScale;
}

void check_lengths(hstu_attention_args& args) {
  if (args.max_seq_len <= 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "max_seq_len = {}: it must be positive; pass the longest length to expect",
         args.max_seq_len);
  checks::not_negative("scaling_seqlen", args.scaling_seqlen, "0 means max_seq_len");
  if (args.scaling_seqlen == 0) args.scaling_seqlen = args.max_seq_len;
}

void check_mask(hstu_attention_args& args) {
  const int mask = checks::code(args.mask);
  if (mask != HSTU_MASK_CAUSAL && mask != HSTU_MASK_FULL)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "mask = {}: use CAUSAL (0) or FULL (1)", mask);
  struct Option {
    const char* name;
    int64_t* value;
  };
  for (const Option& option :
       {Option{"contextual_seq_len", &args.contextual_seq_len}, Option{"max_attn_len", &args.max_attn_len},
        Option{"min_full_attn_seq_len", &args.min_full_attn_seq_len}}) {
    checks::not_negative(option.name, *option.value, "0 means off");
    if (args.mask == HSTU_MASK_FULL && *option.value != 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: mask FULL takes no such option; leave it 0 or use CAUSAL",
           option.name, *option.value);
    *option.value = std::min(*option.value, kManyPositions);
  }
  if (args.mask == HSTU_MASK_FULL && present(args.num_targets))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_targets is there: mask FULL takes no targets; leave it out or use CAUSAL");
  if (args.max_attn_len == 0) args.min_full_attn_seq_len = 0;  // it exempts from that limit only
}

float default_alpha(float alpha, int64_t head_dim) {
  checks::finite("alpha", alpha);
  return alpha == 0 ? static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim))) : alpha;
}

}  // namespace

OperatorFacts facts_of(const hstu_attention_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_attention_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), k = checks::required<3>("k", args.k);
  const checks::Tensor v = checks::required<3>("v", args.v), out = checks::required<3>("out", args.out);
  check_heads(q, k, v, out);
  const checks::Tensor offsets = check_offsets(args.seq_offsets, out);
  const int64_t batch = offsets.t.shape[0] - 1;
  check_targets(args.num_targets, batch, out);
  const int32_t scale = check_scale(args.attn_scale, out);
  check_lengths(args);
  check_mask(args);
  args.alpha = default_alpha(args.alpha, q.t.shape[2]);

  Problem problem{Op::hstu_attention, {}};
  problem[attention::kDtype] = q.t.dtype;
  problem[attention::kHeadDimQk] = checks::field(q, 2);
  problem[attention::kHeadDimV] = checks::field(v, 2);
  problem[attention::kNumHeads] = checks::field(q, 1);
  problem[attention::kOffsetDtype] = offsets.t.dtype;
  problem[attention::kTargetDtype] = args.num_targets.dtype;
  problem[attention::kMask] = args.mask;
  problem[attention::kContextual] = args.contextual_seq_len > 0;
  problem[attention::kMaxAttnLen] = args.max_attn_len > 0;
  problem[attention::kMinFullAttn] = args.min_full_attn_seq_len > 0;
  problem[attention::kAttnScale] = scale;
  problem[attention::kVector] = checks::Vector(q.t.dtype).tensor(q.t).tensor(k.t).tensor(v.t).tensor(out.t).elements();
  checks::field(offsets, 0);  // kernels count sequences in 32 bits
  problem[attention::kBatch] = bucket(batch);
  problem[attention::kTotal] = bucket(q.t.shape[0]);
  problem[attention::kMaxSeqLen] = bucket(args.max_seq_len);
  return problem;
}

Work work_of(const hstu_attention_args& args) {
  const int64_t batch = args.seq_offsets.shape[0] - 1;
  double pairs = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t n = integer_at(args.seq_offsets, b + 1) - integer_at(args.seq_offsets, b);
    pairs += reference::pair_count(reference::sequence_mask(args, b), n);
  }
  const double heads = static_cast<double>(args.q.shape[1]);
  const double dims = static_cast<double>(args.q.shape[2] + args.v.shape[2]);
  const double rows = static_cast<double>(integer_at(args.seq_offsets, batch));
  const double b = static_cast<double>(batch), scales = static_cast<double>(args.attn_scale.shape[0]);
  return {.flops = 2 * pairs * heads * dims,
          .bytes = rows * heads * 2 * dims * size_of(args.q.dtype) + (b + 1) * size_of(args.seq_offsets.dtype) +
                   b * size_of(args.num_targets.dtype) + scales * size_of(args.attn_scale.dtype)};
}

void make_edge_case(hstu_attention_args&, Integers& integers) {
  edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]);
}

}  // namespace hstujit
