// Jagged HSTU attention as a problem: checks, key and cost.
#include "problem/attention/attention_extras.hpp"
#include "problem/attention/attention_problem.hpp"
#include "problem/edge_case.hpp"
#include "problem/operators.hpp"
#include "reference/attention/mask.hpp"
#include "support/element.hpp"

namespace hstujit {
namespace {

using Args = hstu_attention_args;

constexpr FieldInfo kFields[] = {
    {"dtype", FieldKind::dtype},         {"head_dim_qk", FieldKind::exact},  {"head_dim_v", FieldKind::exact},
    {"num_heads", FieldKind::exact},     {"offset_dtype", FieldKind::dtype}, {"target_dtype", FieldKind::dtype},
    {"mask", FieldKind::exact},          {"contextual", FieldKind::exact},   {"max_attn_len", FieldKind::exact},
    {"min_full_attn", FieldKind::exact}, {"attn_scale", FieldKind::exact},   {"vector", FieldKind::exact},
    {"batch", FieldKind::bucket},        {"total", FieldKind::bucket},       {"max_seq_len", FieldKind::bucket},
    {"target_groups", FieldKind::exact}, {"intervals", FieldKind::exact},    {"softmax_heads", FieldKind::exact},
    {"lse", FieldKind::exact},           {"rab", FieldKind::exact},          {"heads_per_kv", FieldKind::exact},
    {"moments", FieldKind::exact}};
enum : int { kOut = 3, kSeqOffsets = 4, kNumTargets = 5 };  // slots of kTensors
constexpr TensorSlot kTensors[] = {{"q", offsetof(Args, q), TensorRole::input},
                                   {"k", offsetof(Args, k), TensorRole::input},
                                   {"v", offsetof(Args, v), TensorRole::input},
                                   {"out", offsetof(Args, out), TensorRole::output},
                                   {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer},
                                   {"num_targets", offsetof(Args, num_targets), TensorRole::integer},
                                   {"attn_scale", offsetof(Args, attn_scale), TensorRole::input},
                                   {"intervals", offsetof(Args, intervals), TensorRole::integer},
                                   {"rab", offsetof(Args, rab), TensorRole::input},
                                   {"lse", offsetof(Args, lse), TensorRole::output},
                                   {"num_contexts", offsetof(Args, num_contexts), TensorRole::integer},
                                   {"moments", offsetof(Args, moments), TensorRole::output, -1, kOut}};
constexpr ScalarSlot kScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32},
    {"mask", offsetof(Args, mask), ScalarSlot::Kind::i32, attention_checks::kMaskWords},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64},
    {"contextual_seq_len", offsetof(Args, contextual_seq_len), ScalarSlot::Kind::i64},
    {"max_attn_len", offsetof(Args, max_attn_len), ScalarSlot::Kind::i64},
    {"min_full_attn_seq_len", offsetof(Args, min_full_attn_seq_len), ScalarSlot::Kind::i64},
    {"target_group_size", offsetof(Args, target_group_size), ScalarSlot::Kind::i64},
    {"window_left", offsetof(Args, window_left), ScalarSlot::Kind::i64},
    {"window_right", offsetof(Args, window_right), ScalarSlot::Kind::i64},
    {"num_softmax_heads", offsetof(Args, num_softmax_heads), ScalarSlot::Kind::i64},
    {"sort_by_length", offsetof(Args, sort_by_length), ScalarSlot::Kind::i32}};

}  // namespace

OperatorFacts facts_of(const hstu_attention_args*) { return {kFields, kTensors, kScalars}; }

Problem prepare(hstu_attention_args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), k = checks::required<3>("k", args.k);
  const checks::Tensor v = checks::required<3>("v", args.v), out = checks::required<3>("out", args.out);
  checks::floating(q);
  for (const checks::Tensor* other : {&k, &v, &out}) {
    checks::same_dtype(*other, q);
    checks::extent(*other, 0, q.t.shape[0], "total = q.shape[0]");
  }
  attention::check_heads(q, k, v, out);
  Problem problem = attention::problem_of(Op::hstu_attention, args, q, v, out);
  problem[attention::kVector] = checks::Vector(q.t.dtype).tensor(q.t).tensor(k.t).tensor(v.t).tensor(out.t).elements();
  problem[attention::kHeadsPerKv] = attention_checks::heads_per_kv(q, k);
  attention_extras::check(args, q, out, problem);
  return problem;
}

Work work_of(const hstu_attention_args& args) {
  const int64_t batch = args.seq_offsets.shape[0] - 1;
  double pairs = 0;  // of all heads
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t first = integer_at(args.seq_offsets, b), n = integer_at(args.seq_offsets, b + 1) - first;
    pairs += reference::pair_count_of_heads(args, b, first, 0, n);
  }
  const double heads = static_cast<double>(args.q.shape[1] + args.k.shape[1]);  // of q and out, of k and v
  const double dims = static_cast<double>(args.q.shape[2] + args.v.shape[2]);
  const double rows = static_cast<double>(integer_at(args.seq_offsets, batch));
  const double b = static_cast<double>(batch), scales = static_cast<double>(args.attn_scale.shape[0]);
  return {.flops = 2 * pairs * dims,
          .bytes = rows * heads * dims * size_of(args.q.dtype) + (b + 1) * size_of(args.seq_offsets.dtype) +
                   b * size_of(args.num_targets.dtype) + b * size_of(args.num_contexts.dtype) +
                   scales * size_of(args.attn_scale.dtype) + static_cast<double>(extent_bytes(args.intervals)) +
                   static_cast<double>(extent_bytes(args.rab)) + 4 * rows * static_cast<double>(args.lse.shape[0]) +
                   8 * rows * static_cast<double>(args.moments.shape[1])};
}

void make_edge_case(hstu_attention_args&, Integers& integers) {
  edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]);
}

}  // namespace hstujit
