// Attention of new rows against jagged keys and values: facts, checks, key, cost and reference.
#include "operators/attention/mask.hpp"
#include "operators/attention/new_rows.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "support/element.hpp"

namespace hstujit {
namespace {

using Args = hstu_delta_attention_args;
using namespace delta_attention;

constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, q), TensorRole::input, of_rank(3, kFloating)},
    {"k", offsetof(Args, k), TensorRole::input, of_rank(3, kFloating)},
    {"v", offsetof(Args, v), TensorRole::input, of_rank(3, kFloating)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(3, kFloating)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"q_offsets", offsetof(Args, q_offsets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"num_targets", offsetof(Args, mask.num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"attn_scale", offsetof(Args, attn_scale), TensorRole::input, of_rank(1, kF32).or_absent()},
    {"intervals", offsetof(Args, mask.intervals), TensorRole::integer, of_rank(3, kI32).or_absent()},
    {"num_contexts", offsetof(Args, mask.num_contexts), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"rab", offsetof(Args, rab), TensorRole::input, of_rank(4, kFloating).or_absent()}};

enum : size_t { kSeqOffsets = 4, kQOffsets = 5, kNumTargets = 6 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {kFields, kTensors, kScalars<Args>}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), k = checks::required<3>("k", args.k);
  const checks::Tensor v = checks::required<3>("v", args.v), out = checks::required<3>("out", args.out);
  check_queries(q, out, v);
  check_keys(k, v, q, out);
  const checks::Tensor offsets = attention_checks::offsets("seq_offsets", args.seq_offsets, out);
  const int64_t batch = offsets.t.shape[0] - 1;
  check_q_offsets(args.q_offsets, args.max_q_len, batch, q, out);
  attention_checks::targets(args.mask.num_targets, batch, out);
  const int32_t contextual =
      attention_checks::contexts(args.mask.num_contexts, args.mask.contextual_seq_len, batch, out);
  attention_checks::no_softmax_heads(args.num_softmax_heads);
  const int32_t scale = attention_checks::scale(args.attn_scale, out);
  attention_checks::lengths(args.max_seq_len, args.scaling_seqlen);
  const int32_t intervals = attention_checks::mask(args.mask, q, out);
  args.alpha = attention_checks::alpha(args.alpha, q.t.shape[2]);
  checks::field(offsets, 0);  // kernels count sequences in 32 bits

  Problem problem = key_of(Op::delta_attention, args, k.t, scale, intervals, contextual, batch);
  problem[kOffsetDtype] = offsets.t.dtype;
  problem[kRab] = attention_checks::bias(args.rab, batch, q, out);
  problem[kVector] = checks::Vector(q.t.dtype).tensor(q.t).tensor(k.t).tensor(v.t).tensor(out.t).elements();
  return problem;
}

Cost cost_of(const Args& args) {
  const int64_t batch = args.seq_offsets.shape[0] - 1, total_q = args.q.shape[0];
  double pairs = 0, biases = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const QueryRows rows = query_rows(args.q_offsets, total_q, batch, b);
    const int64_t n = integer_at(args.seq_offsets, b + 1) - integer_at(args.seq_offsets, b);
    pairs +=
        reference::pair_count_of_heads(args.mask, args.q.shape[1], b, rows.last - n, n - (rows.last - rows.first), n);
    biases += bias_count(args.rab, n, rows.last - rows.first);
  }
  const double keys = static_cast<double>(integer_at(args.seq_offsets, batch) * args.k.shape[1]);
  return cost_of_heads(args.q, args.out, pairs, keys, biases,
                       {&args.seq_offsets, &args.q_offsets, &args.mask.num_targets, &args.attn_scale,
                        &args.mask.intervals, &args.mask.num_contexts});
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]);
  edge_case::make_ragged(integers[kQOffsets], no_targets);
}

namespace reference {
namespace {

void check_contents(const Args& args) {
  check_offsets("seq_offsets", args.seq_offsets, args.k.shape[0], "k.shape[0]");
  if (present(args.q_offsets)) check_offsets("q_offsets", args.q_offsets, args.q.shape[0], "q.shape[0]");
  check_counts("num_targets", args.mask.num_targets);
  check_counts("num_contexts", args.mask.num_contexts);
}

CachedHead head_of(const Args& args, int64_t b, int64_t head) {
  const int64_t batch = args.seq_offsets.shape[0] - 1, first = integer_at(args.seq_offsets, b);
  const auto rows = query_rows(args.q_offsets, args.q.shape[0], batch, b);
  const int64_t keys = integer_at(args.seq_offsets, b + 1) - first;
  const int64_t kv_head = head / (args.q.shape[1] / args.k.shape[1]);
  const auto reader = [=](const hstu_tensor& t) {
    return [&t, first, kv_head](int64_t position, double* out) {
      load(t, (first + position) * t.stride[0] + kv_head * t.stride[1], t.shape[2], out);
    };
  };
  return {.mask = sequence_mask(args.mask, b, rows.last - keys, head),
          .sequence = b,
          .head = head,
          .keys = keys,
          .queries = rows.last - rows.first,
          .first_q = rows.first,
          .key = reader(args.k),
          .value = reader(args.v)};
}

}  // namespace

void run(const Args& args, double* const* exact) {
  check_contents(args);
  attend_all(args, args.seq_offsets.shape[0] - 1, head_of, exact);
}

}  // namespace reference

}  // namespace hstujit
