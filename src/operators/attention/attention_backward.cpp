// The gradients of jagged HSTU attention: facts, checks, key, cost, edge case and reference. The reference follows the
// definition: every pair of rows asks the mask.
#include "operators/attention/attention_backward.hpp"

#include "operators/attention/mask.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hstujit {
namespace {

using Args = hstu_attention_backward_args;
using checks::Tensor;
namespace key = attention_backward;

enum : int { kDout = 3, kSeqOffsets = 6, kNumTargets = 7 };  // slots of kTensors
constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, forward.q), TensorRole::input, of_rank(3, kFloating)},
    {"k", offsetof(Args, forward.k), TensorRole::input, of_rank(3, kFloating)},
    {"v", offsetof(Args, forward.v), TensorRole::input, of_rank(3, kFloating)},
    {"dout", offsetof(Args, dout), TensorRole::input, of_rank(3, kFloating)},
    {"out", offsetof(Args, forward.out), TensorRole::input, of_rank(3, kFloating).or_absent()},
    {"lse", offsetof(Args, forward.lse), TensorRole::input, of_rank(2, kF32).or_absent()},
    {"seq_offsets", offsetof(Args, forward.seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"num_targets", offsetof(Args, forward.mask.num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"attn_scale", offsetof(Args, forward.attn_scale), TensorRole::input, of_rank(1, kF32).or_absent()},
    {"intervals", offsetof(Args, forward.mask.intervals), TensorRole::integer, of_rank(3, kI32).or_absent()},
    {"rab", offsetof(Args, forward.rab), TensorRole::input, of_rank(4, kFloating).or_absent()},
    {"num_contexts", offsetof(Args, forward.mask.num_contexts), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"dq", offsetof(Args, dq), TensorRole::output, of_rank(3, kFloating).or_absent()},
    {"dk", offsetof(Args, dk), TensorRole::output, of_rank(3, kFloating).or_absent()},
    {"dv", offsetof(Args, dv), TensorRole::output, of_rank(3, kFloating).or_absent()},
    {.name = "drab",
     .offset = offsetof(Args, drab),
     .role = TensorRole::output,
     .form = of_rank(4, kFloating).or_absent(),
     .accumulates = true},
    {.name = "d_attn_scale",
     .offset = offsetof(Args, d_attn_scale),
     .role = TensorRole::output,
     .form = of_rank(1, kF32).or_absent(),
     .sums_over = kDout,
     .accumulates = true}};
constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kScalars[] = {
    {"alpha", offsetof(Args, forward.alpha), ScalarSlot::Kind::f32, {}, kFollows},
    {"mask", offsetof(Args, forward.mask.kind), ScalarSlot::Kind::i32, attention_checks::kMaskWords},
    {"max_seq_len", offsetof(Args, forward.max_seq_len), ScalarSlot::Kind::i64, {}, kMustBeSet},
    {"scaling_seqlen", offsetof(Args, forward.scaling_seqlen), ScalarSlot::Kind::i64, {}, kFollows},
    {"contextual_seq_len", offsetof(Args, forward.mask.contextual_seq_len), ScalarSlot::Kind::i64},
    {"max_attn_len", offsetof(Args, forward.mask.max_attn_len), ScalarSlot::Kind::i64},
    {"min_full_attn_seq_len", offsetof(Args, forward.mask.min_full_attn_seq_len), ScalarSlot::Kind::i64},
    {"target_group_size", offsetof(Args, forward.mask.target_group_size), ScalarSlot::Kind::i32, {}, {1}},
    {"window_left", offsetof(Args, forward.mask.window_left), ScalarSlot::Kind::i64},
    {"window_right", offsetof(Args, forward.mask.window_right), ScalarSlot::Kind::i64},
    {"num_softmax_heads", offsetof(Args, forward.num_softmax_heads), ScalarSlot::Kind::i32},
    {"accumulate", offsetof(Args, accumulate), ScalarSlot::Kind::i32},
    {"determinism", offsetof(Args, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};
constexpr const ScalarSlot* kAccumulate = &kScalars[std::size(kScalars) - 2];

/// f32 [num_heads, total]: what each head adds to d_attn_scale's rows.
size_t workspace_bytes(const void* untyped) {
  const Args& args = *static_cast<const Args*>(untyped);
  if (!present(args.d_attn_scale)) return 0;
  const int64_t rows = std::clamp<int64_t>(args.forward.q.shape[0], 0, int64_t{1} << 40);
  const int64_t heads = std::clamp<int64_t>(args.forward.q.shape[1], 0, 1 << 20);  // others no call has
  return static_cast<size_t>(rows * heads) * sizeof(float);
}
constexpr WorkspaceSlot kWorkspace = {offsetof(Args, workspace), offsetof(Args, workspace_size), workspace_bytes};

/// What the call reads and what it writes; those that are not there have no bytes.
struct Checked {
  Tensor q, k, v, dout, out, lse, rab, attn_scale, offsets, targets, contexts, intervals;
  Tensor dq, dk, dv, drab, d_attn_scale;

  std::array<const Tensor*, 12> inputs() const {
    return {&q, &k, &v, &dout, &out, &lse, &rab, &attn_scale, &offsets, &targets, &contexts, &intervals};
  }
  std::array<const Tensor*, 5> outputs() const { return {&dq, &dk, &dv, &drab, &d_attn_scale}; }
};

/// One that has been checked, or is not there.
Tensor noted(const char* name, hstu_tensor& t) { return {name, t, present(t) ? extent_bytes(t) : 0}; }

/// A gradient like `of`, or no gradient.
template <int kRank>
void check_gradient(const char* name, hstu_tensor& t, const Tensor& of) {
  if (!checks::given(name, t)) return;
  if (!present(of.t))
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "{} is there, but {} is absent: there is nothing to take its gradient of; leave {} out", name, of.name, name);
  const Tensor gradient = checks::required<kRank>(name, t);
  checks::same_dtype(gradient, of);
  constexpr const char* kWords[] = {"the extent of what it is the gradient of", "the heads of its tensor",
                                    "the third extent of its tensor", "the fourth extent of its tensor"};
  for (int d = 0; d < kRank; ++d) checks::extent(gradient, d, of.t.shape[d], kWords[d]);
  checks::no_self_overlap(gradient);
}

/// q, k, v and dout: one type, one number of rows, and heads and dims that belong together.
void check_rows(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& dout) {
  checks::floating(q);
  for (const Tensor* other : {&k, &v, &dout}) {
    checks::same_dtype(*other, q);
    checks::extent(*other, 0, q.t.shape[0], "total = q.shape[0]");
  }
  checks::extent(dout, 1, q.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(v, 1, k.t.shape[1], "num_kv_heads = k.shape[1]");
  attention_checks::head_dim("head_dim_qk", q);
  attention_checks::head_dim("head_dim_v", v);
  checks::extent(k, 2, q.t.shape[2], "head_dim_qk = q.shape[2]");
  checks::extent(dout, 2, v.t.shape[2], "head_dim_v = v.shape[2]");
}

/// What the call left, which softmax heads need. Of others it is nobody's business.
void check_saved(hstu_attention_args& f, const Tensor& dout) {
  for (const auto& [name, t] : {std::pair{"out", &f.out}, {"lse", &f.lse}})
    if (!checks::given(name, *t) && f.num_softmax_heads > 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "{} is absent, but num_softmax_heads = {}: give what hstu_attention left as its {}", name,
           f.num_softmax_heads, name);
  if (f.num_softmax_heads == 0) {
    f.out = f.lse = {};
    return;
  }
  const Tensor out = checks::required<3>("out", f.out), lse = checks::required<2>("lse", f.lse);
  checks::same_dtype(out, dout);
  checks::extent(out, 0, dout.t.shape[0], "total = q.shape[0]");
  checks::extent(out, 1, dout.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(out, 2, dout.t.shape[2], "head_dim_v = v.shape[2]");
  checks::is_f32(lse);
  checks::extent(lse, 0, f.num_softmax_heads, "num_softmax_heads");
  checks::extent(lse, 1, dout.t.shape[0], "total = q.shape[0]");
}

Checked note_all(Args& args) {
  hstu_attention_args& f = args.forward;
  return {noted("q", f.q),
          noted("k", f.k),
          noted("v", f.v),
          noted("dout", args.dout),
          noted("out", f.out),
          noted("lse", f.lse),
          noted("rab", f.rab),
          noted("attn_scale", f.attn_scale),
          noted("seq_offsets", f.seq_offsets),
          noted("num_targets", f.mask.num_targets),
          noted("num_contexts", f.mask.num_contexts),
          noted("intervals", f.mask.intervals),
          noted("dq", args.dq),
          noted("dk", args.dk),
          noted("dv", args.dv),
          noted("drab", args.drab),
          noted("d_attn_scale", args.d_attn_scale)};
}

void check_gradients(Args& args) {
  hstu_attention_args& f = args.forward;
  check_gradient<3>("dq", args.dq, {"q", f.q});
  check_gradient<3>("dk", args.dk, {"k", f.k});
  check_gradient<3>("dv", args.dv, {"v", f.v});
  check_gradient<4>("drab", args.drab, {"rab", f.rab});
  check_gradient<1>("d_attn_scale", args.d_attn_scale, {"attn_scale", f.attn_scale});
}

void check_overlaps(const Checked& c) {
  const auto outputs = c.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const Tensor* in : c.inputs()) checks::disjoint(*outputs[i], *in);
    for (size_t other = 0; other < i; ++other) checks::disjoint(*outputs[i], *outputs[other]);
  }
}

void check_workspace(Args& args, const Checked& c) {
  const size_t needed = workspace_bytes(&args);
  if (needed == 0) return;
  if (args.workspace_size < needed)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "workspace_size = {}: it must be at least {}, as hstu_attention_backward_workspace_size() says",
         args.workspace_size, needed);
  if (!args.workspace || reinterpret_cast<uintptr_t>(args.workspace) % kWorkspaceAlignment != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace = {}: it must be device memory aligned to {} bytes", args.workspace,
         kWorkspaceAlignment);
  hstu_tensor space = hstu_vector(args.workspace, HSTU_DTYPE_F32, static_cast<int64_t>(needed / sizeof(float)));
  const Tensor workspace{"workspace", space, static_cast<int64_t>(needed)};
  for (const Tensor* in : c.inputs()) checks::disjoint(workspace, *in);
  for (const Tensor* out : c.outputs()) checks::disjoint(workspace, *out);
}

int32_t vector_of(const Args& args) {
  const hstu_attention_args& f = args.forward;
  checks::Vector vector(f.q.dtype);
  for (const hstu_tensor* t : {&f.q, &f.k, &f.v, &args.dout, &f.out, &args.dq, &args.dk, &args.dv})
    if (present(*t)) vector.tensor(*t);
  return vector.elements();
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {key::kFields, kTensors, kScalars, &kWorkspace, kAccumulate}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  checks::embedded_size("forward.struct_size", args.forward.struct_size, sizeof args.forward);
  hstu_attention_args& f = args.forward;
  const Tensor q = checks::required<3>("q", f.q), k = checks::required<3>("k", f.k);
  const Tensor v = checks::required<3>("v", f.v), dout = checks::required<3>("dout", args.dout);
  check_rows(q, k, v, dout);
  const Tensor of_out{"dout", args.dout};  // without bytes: it is read, and may lie where it likes
  Problem problem = attention::problem_of(Op::attention_backward, f, q, v, of_out);
  problem[key::kHeadsPerKv] = attention_checks::heads_per_kv(q, k);
  problem[key::kSoftmaxHeads] = attention::softmax_kind(f.num_softmax_heads, q.t.shape[1]);
  problem[key::kRab] = attention_checks::bias(f.rab, f.seq_offsets.shape[0] - 1, q, of_out);
  check_saved(f, dout);
  check_gradients(args);
  const Checked c = note_all(args);
  check_overlaps(c);
  checks::flag("accumulate", args.accumulate);
  checks::flag("determinism", static_cast<int32_t>(args.determinism));
  check_workspace(args, c);
  problem[key::kVector] = vector_of(args);
  problem[key::kHasDq] = present(args.dq);
  problem[key::kHasDk] = present(args.dk);
  problem[key::kHasDv] = present(args.dv);
  problem[key::kDrab] = !present(args.drab)       ? key::kNoDrab
                        : args.drab.shape[1] == 1 ? key::kDrabOfAll
                                                  : key::kDrabOfHeads;
  problem[key::kHasDattnScale] = present(args.d_attn_scale);
  return problem;
}

// Five products for all of dq, dk and dv: scores, and dP where more than dv is asked for, serve all.
Cost cost_of(const Args& args) {
  const hstu_attention_args& f = args.forward;
  const int64_t batch = f.seq_offsets.shape[0] - 1;
  double pairs = 0;  // of all heads
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t first = integer_at(f.seq_offsets, b), n = integer_at(f.seq_offsets, b + 1) - first;
    pairs += reference::pair_count_of_heads(f.mask, f.q.shape[1], b, first, 0, n);
  }
  const bool slopes = present(args.dq) || present(args.dk) || present(args.drab) || present(args.d_attn_scale);
  const bool any = slopes || present(args.dv);
  const int of_qk = any + present(args.dq) + present(args.dk), of_v = slopes + present(args.dv);
  const double rows = static_cast<double>(integer_at(f.seq_offsets, batch)), b = static_cast<double>(batch);
  double elements = 0;  // of a row
  for (const hstu_tensor* t : {&f.q, &f.k, &f.v, &args.dout, &f.out, &args.dq, &args.dk, &args.dv})
    if (present(*t)) elements += static_cast<double>(t->shape[1] * t->shape[2]);
  return {.flops = 2 * pairs * (of_qk * static_cast<double>(f.q.shape[2]) + of_v * static_cast<double>(f.v.shape[2])),
          .bytes = rows * elements * size_of(f.q.dtype) + (b + 1) * size_of(f.seq_offsets.dtype) +
                   b * size_of(f.mask.num_targets.dtype) + b * size_of(f.mask.num_contexts.dtype) +
                   bytes_of_all({&f.attn_scale, &f.mask.intervals, &f.rab}) +
                   4 * rows * static_cast<double>(args.forward.lse.shape[0]) +
                   (1 + args.accumulate) * bytes_of_all({&args.drab, &args.d_attn_scale})};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

}  // namespace hstujit
