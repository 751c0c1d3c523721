// Jagged HSTU attention: facts, checks, key, cost and reference. The reference follows the definition: every pair of
// rows asks the mask.
#include "operators/attention/attention.hpp"

#include "operators/attention/mask.hpp"
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_attention_args;

enum : int { kOut = 3, kSeqOffsets = 4, kNumTargets = 5 };  // slots of kTensors
constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, q), TensorRole::input, of_rank(3, kFloating)},
    {"k", offsetof(Args, k), TensorRole::input, of_rank(3, kFloating)},
    {"v", offsetof(Args, v), TensorRole::input, of_rank(3, kFloating)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(3, kFloating)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"num_targets", offsetof(Args, mask.num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"attn_scale", offsetof(Args, attn_scale), TensorRole::input, of_rank(1, kF32).or_absent()},
    {"intervals", offsetof(Args, mask.intervals), TensorRole::integer, of_rank(3, kI32).or_absent()},
    {"rab", offsetof(Args, rab), TensorRole::input, of_rank(4, kFloating).or_absent()},
    {"lse", offsetof(Args, lse), TensorRole::output, of_rank(2, kF32).or_absent()},
    {"num_contexts", offsetof(Args, mask.num_contexts), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"moments", offsetof(Args, moments), TensorRole::output, of_rank(3, kF32, 0).or_absent(), -1, kOut}};
constexpr ScalarSlot kOwnScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32, {}, kFollows},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64, {}, kMustBeSet},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64, {}, kFollows},
    {"num_softmax_heads", offsetof(Args, num_softmax_heads), ScalarSlot::Kind::i32}};
constexpr auto kScalars = joined(kOwnScalars, attention_checks::kMaskScalars<Args>);

void check_lse(Args& args, const checks::Tensor& out) {
  const checks::Tensor lse = checks::required<2>("lse", args.lse);
  checks::is_f32(lse);
  checks::extent(lse, 0, args.num_softmax_heads, "num_softmax_heads");
  checks::extent(lse, 1, out.t.shape[0], "total = q.shape[0]");
  checks::no_self_overlap(lse);
  checks::disjoint(lse, out);
  for (const auto& [name, in] : {std::pair{"q", &args.q}, {"k", &args.k}, {"v", &args.v}})
    checks::disjoint(lse, checks::required<3>(name, *in));
}

void check_moments(Args& args, const checks::Tensor& out) {
  const checks::Tensor moments = checks::part_moments(args.moments, out.t.shape[0], "total = q.shape[0]");
  checks::extent(moments, 1, out.t.shape[1], "num_heads = q.shape[1]");
  checks::disjoint(moments, out);
  for (const auto& [name, in] : {std::pair{"q", &args.q}, {"k", &args.k}, {"v", &args.v}})
    checks::disjoint(moments, checks::required<3>(name, *in));
  if (present(args.lse)) checks::disjoint(moments, checks::required<2>("lse", args.lse));
}

/// Checks num_softmax_heads, lse, rab and moments against the others and fills the key's fields.
void check_options(Args& args, const checks::Tensor& q, const checks::Tensor& out, Problem& problem) {
  const int64_t heads = q.t.shape[1], softmax = args.num_softmax_heads;
  problem[attention::kSoftmaxHeads] = attention::softmax_kind(softmax, heads);
  if (checks::given("lse", args.lse)) {
    if (softmax == 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "lse is there, but num_softmax_heads = 0: only softmax heads have it; leave it out or set "
           "num_softmax_heads");
    check_lse(args, out);
  }
  const int32_t biased = attention_checks::bias(args.rab, args.seq_offsets.shape[0] - 1, q, out);
  if (biased != attention_extras::kNoBias && present(args.lse))
    checks::disjoint(checks::required<2>("lse", args.lse), checks::required<4>("rab", args.rab));
  if (checks::given("moments", args.moments)) check_moments(args, out);
  problem[attention::kLse] = present(args.lse);
  problem[attention::kRab] = biased;
  problem[attention::kMoments] = present(args.moments);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {attention::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<3>("q", args.q), k = checks::required<3>("k", args.k);
  const checks::Tensor v = checks::required<3>("v", args.v), out = checks::required<3>("out", args.out);
  checks::floating(q);
  for (const checks::Tensor* other : {&k, &v, &out}) {
    checks::same_dtype(*other, q);
    checks::extent(*other, 0, q.t.shape[0], "total = q.shape[0]");
  }
  attention_checks::heads(q, k, v, out);
  Problem problem = attention::problem_of(Op::attention, args, q, v, out);
  problem[attention::kVector] = checks::Vector(q.t.dtype).tensor(q.t).tensor(k.t).tensor(v.t).tensor(out.t).elements();
  problem[attention::kHeadsPerKv] = attention_checks::heads_per_kv(q, k);
  check_options(args, q, out, problem);
  return problem;
}

Cost cost_of(const Args& args) {
  const int64_t batch = args.seq_offsets.shape[0] - 1;
  double pairs = 0;  // of all heads
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t first = integer_at(args.seq_offsets, b), n = integer_at(args.seq_offsets, b + 1) - first;
    pairs += reference::pair_count_of_heads(args.mask, args.q.shape[1], b, first, 0, n);
  }
  const double heads = static_cast<double>(args.q.shape[1] + args.k.shape[1]);  // of q and out, of k and v
  const double dims = static_cast<double>(args.q.shape[2] + args.v.shape[2]);
  const double rows = static_cast<double>(integer_at(args.seq_offsets, batch));
  const double b = static_cast<double>(batch), scales = static_cast<double>(args.attn_scale.shape[0]);
  return {.flops = 2 * pairs * dims,
          .bytes = rows * heads * dims * size_of(args.q.dtype) + (b + 1) * size_of(args.seq_offsets.dtype) +
                   b * size_of(args.mask.num_targets.dtype) + b * size_of(args.mask.num_contexts.dtype) +
                   scales * size_of(args.attn_scale.dtype) + static_cast<double>(extent_bytes(args.mask.intervals)) +
                   static_cast<double>(extent_bytes(args.rab)) + 4 * rows * static_cast<double>(args.lse.shape[0]) +
                   8 * rows * static_cast<double>(args.moments.shape[1])};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

namespace reference {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

double output_scale(const Args& args, int64_t row) {
  if (!present(args.attn_scale)) return 1 / static_cast<double>(args.scaling_seqlen);
  return static_cast<const float*>(args.attn_scale.data)[args.attn_scale.shape[0] == 1 ? 0 : row];
}

/// One head of one sequence, widened; keys are transposed so that the innermost loops run over neighbours.
class HeadOfSequence {
 public:
  HeadOfSequence(const Args& args, int64_t b, int64_t head)
      : args_(args),
        mask_(sequence_mask(args.mask, b, integer_at(args.seq_offsets, b), head)),
        batch_index_(b),
        head_(head),
        kv_head_(head * args.k.shape[1] / args.q.shape[1]),
        first_(integer_at(args.seq_offsets, b)),
        n_(integer_at(args.seq_offsets, b + 1) - first_),
        dim_qk_(args.q.shape[2]),
        dim_v_(args.v.shape[2]) {
    keys_.resize(index(dim_qk_ * n_));
    values_.resize(index(n_ * dim_v_));
    query_.resize(index(dim_qk_));
    for (int64_t j = 0; j < n_; ++j) {
      load_head(args.k, j, kv_head_, query_.data());
      for (int64_t d = 0; d < dim_qk_; ++d) keys_[index(d * n_ + j)] = query_[index(d)];
      load_head(args.v, j, kv_head_, &values_[index(j * dim_v_)]);
    }
    scores_.resize(index(n_));
    result_.resize(index(dim_v_));
  }

  void run(const Output& out, const Output& lse, const Output& moments) {
    const bool softmax = head_ < args_.num_softmax_heads;
    for (int64_t i = 0; i < n_; ++i) {
      load_head(args_.q, i, head_, query_.data());
      score(i);
      const double sum = softmax ? exponentiate(i) : 0;
      gather(i, softmax);
      for (double& value : result_) value *= softmax ? (sum > 0 ? 1 / sum : 0) : output_scale(args_, first_ + i);
      out.write(first_ + i, 0, dim_v_, result_.data(), head_);
      const double log_sum = most_ + std::log(sum);
      if (softmax && present(args_.lse)) lse.write(head_, first_ + i, 1, &log_sum);
      if (present(args_.moments)) write_moments(moments, first_ + i);
    }
  }

 private:
  /// Of the result as `out` holds it.
  void write_moments(const Output& moments, int64_t row) {
    round_to(args_.out.dtype, result_.data(), dim_v_);
    double mean = 0, squares = 0;
    for (const double value : result_) mean += value / static_cast<double>(dim_v_);
    for (const double value : result_) squares += (value - mean) * (value - mean);
    const double pair[] = {mean, squares};
    moments.write(row, 0, 2, pair, head_);
  }

  void load_head(const hstu_tensor& t, int64_t position, int64_t head, double* out) const {
    load(t, (first_ + position) * t.stride[0] + head * t.stride[1], t.shape[2], out);
  }

  /// alpha q_i . k_j for a range of keys that holds all allowed ones.
  void score(int64_t i) {
    begin_ = 0;
    end_ = n_;
    while (begin_ < end_ && !mask_.allows(i, begin_, n_)) ++begin_;
    while (begin_ < end_ && !mask_.allows(i, end_ - 1, n_)) --end_;
    for (int64_t j = begin_; j < end_; ++j) scores_[index(j)] = 0;
    for (int64_t d = 0; d < dim_qk_; ++d) {
      const double q = query_[index(d)] * static_cast<double>(args_.alpha);
      const double* keys = &keys_[index(d * n_)];
      for (int64_t j = begin_; j < end_; ++j) scores_[index(j)] += q * keys[j];
    }
    if (present(args_.rab)) add_bias(i);
  }

  void add_bias(int64_t i) {
    const hstu_tensor& rab = args_.rab;
    if (i >= rab.shape[2]) return;
    const int64_t row =
        batch_index_ * rab.stride[0] + (rab.shape[1] == 1 ? 0 : head_) * rab.stride[1] + i * rab.stride[2];
    std::vector<double> bias(index(n_));
    const int64_t end = std::min(end_, rab.shape[3]);
    if (end > begin_) load(rab, row + begin_, end - begin_, bias.data());
    for (int64_t j = begin_; j < end; ++j)
      scores_[index(j)] += static_cast<double>(args_.alpha) * bias[index(j - begin_)];
  }

  /// Scores of allowed keys become their powers over the largest; returns the sum of these.
  double exponentiate(int64_t i) {
    most_ = -std::numeric_limits<double>::infinity();
    for (int64_t j = begin_; j < end_; ++j)
      if (mask_.allows(i, j, n_)) most_ = std::max(most_, scores_[index(j)]);
    double sum = 0;
    for (int64_t j = begin_; j < end_; ++j)
      if (mask_.allows(i, j, n_)) sum += scores_[index(j)] = std::exp(scores_[index(j)] - most_);
    return sum;
  }

  void gather(int64_t i, bool softmax) {
    std::fill(result_.begin(), result_.end(), 0.0);
    for (int64_t j = begin_; j < end_; ++j) {
      if (!mask_.allows(i, j, n_)) continue;
      const double p = softmax ? scores_[index(j)] : silu(scores_[index(j)]);
      const double* value = &values_[index(j * dim_v_)];
      for (int64_t d = 0; d < dim_v_; ++d) result_[index(d)] += p * value[d];
    }
  }

  const Args& args_;
  const SequenceMask mask_;
  const int64_t batch_index_, head_, kv_head_, first_, n_, dim_qk_, dim_v_;
  std::vector<double> keys_;    ///< [dim_qk, n]
  std::vector<double> values_;  ///< [n, dim_v]
  std::vector<double> query_, scores_, result_;
  int64_t begin_ = 0, end_ = 0;
  double most_ = 0;  ///< the largest score of a row under softmax
};

}  // namespace

void run(const Args& args, double* const* exact) {
  check_offsets("seq_offsets", args.seq_offsets, args.q.shape[0], "total");
  check_counts("num_targets", args.mask.num_targets);
  check_counts("num_contexts", args.mask.num_contexts);
  const int64_t batch = args.seq_offsets.shape[0] - 1, heads = args.q.shape[1];
  const Output out(args.out, exact), lse(args.lse, exact, 1), moments(args.moments, exact, 2);
  const double operations = operator_of(Op::attention).cost(&args).flops;
  parallel_for(batch * heads, operations,
               [&](int64_t task) { HeadOfSequence(args, task / heads, task % heads).run(out, lse, moments); });
}

}  // namespace reference

}  // namespace hstujit
