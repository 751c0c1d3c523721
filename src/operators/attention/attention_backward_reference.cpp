// The reference of attention_backward, in double precision. It follows the definition: every pair of rows asks the
// mask.
#include "operators/attention/attention_backward.hpp"
#include "operators/attention/mask.hpp"
#include "operators/integers.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::reference {
namespace {

using Args = hstu_attention_backward_args;

size_t index(int64_t i) { return static_cast<size_t>(i); }
double silu_slope(double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }

/// Rows of one head of a sequence, one after the other.
std::vector<double> load_rows(const hstu_tensor& t, int64_t first, int64_t n, int64_t head) {
  std::vector<double> rows(index(n * t.shape[2]));
  for (int64_t i = 0; i < n; ++i)
    load(t, (first + i) * t.stride[0] + head * t.stride[1], t.shape[2], &rows[index(i * t.shape[2])]);
  return rows;
}
double dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t d = 0; d < count; ++d) sum += a[d] * b[d];
  return sum;
}
/// The root of the sum of the squares of a dot product's terms.
double size_of_dot(const double* a, const double* b, int64_t count) {
  double squares = 0;
  for (int64_t d = 0; d < count; ++d) squares += a[d] * b[d] * a[d] * b[d];
  return std::sqrt(squares);
}
void add(double* to, double factor, const double* from, int64_t count) {
  for (int64_t d = 0; d < count; ++d) to[d] += factor * from[d];
}

struct Sequence {
  int64_t b, first, n;
  Sequence(const Args& args, int64_t batch_index)
      : b(batch_index),
        first(integer_at(args.forward.seq_offsets, b)),
        n(integer_at(args.forward.seq_offsets, b + 1) - first) {}
};

/// What one pair of rows gives: P, dS, and its term of d_attn_scale. Or the sizes of what these are made of, as
/// sizes_of_terms() takes them.
struct Pair {
  double weight, slope, of_scale;
};

/// One query head of one sequence, widened.
class Head {
 public:
  Head(const Args& args, const Sequence& s, int64_t head)
      : dim_qk(args.forward.q.shape[2]),
        dim_v(args.forward.v.shape[2]),
        args_(args),
        s_(s),
        head_(head),
        mask_(sequence_mask(args.forward.mask, s.b, s.first, head)),
        softmax_(head < args.forward.num_softmax_heads) {
    const hstu_attention_args& f = args.forward;
    const int64_t kv_head = head * f.k.shape[1] / f.q.shape[1];
    q_ = load_rows(f.q, s.first, s.n, head);
    k_ = load_rows(f.k, s.first, s.n, kv_head);
    v_ = load_rows(f.v, s.first, s.n, kv_head);
    dout_ = load_rows(args.dout, s.first, s.n, head);
    if (softmax_) out_ = load_rows(args.forward.out, s.first, s.n, head);
  }

  bool softmax() const { return softmax_; }
  const double* q(int64_t i) const { return &q_[index(i * dim_qk)]; }
  const double* k(int64_t j) const { return &k_[index(j * dim_qk)]; }
  const double* v(int64_t j) const { return &v_[index(j * dim_v)]; }
  const double* dout(int64_t i) const { return &dout_[index(i * dim_v)]; }

  /// visit(j, pair) for each key j that row i sees; sizes: of the pairs' sizes.
  template <class Visit>
  void each_pair(int64_t i, bool sizes, const Visit& visit) const {
    const Row row = row_of(i);
    for (int64_t j = 0; j < s_.n; ++j)
      if (mask_.allows(i, j, s_.n)) visit(j, sizes ? sizes_of(i, j, row) : pair_of(i, j, row));
  }

  const int64_t dim_qk, dim_v;

 private:
  struct Row {
    double scale, lse, delta;
    std::vector<double> bias;  ///< of all keys; empty without
  };
  Row row_of(int64_t i) const {
    const hstu_attention_args& f = args_.forward;
    const int64_t row = s_.first + i;
    Row r{1 / static_cast<double>(f.scaling_seqlen), 0, 0, {}};
    if (present(f.attn_scale))
      load(f.attn_scale, f.attn_scale.shape[0] == 1 ? 0 : row * f.attn_scale.stride[0], 1, &r.scale);
    if (softmax_) {
      load(args_.forward.lse, head_ * args_.forward.lse.stride[0] + row * args_.forward.lse.stride[1], 1, &r.lse);
      r.delta = dot(&out_[index(i * dim_v)], dout(i), dim_v);
    }
    const hstu_tensor& rab = f.rab;
    if (!present(rab) || i >= rab.shape[2]) return r;
    r.bias.resize(index(s_.n));
    load(rab, s_.b * rab.stride[0] + (rab.shape[1] == 1 ? 0 : head_) * rab.stride[1] + i * rab.stride[2],
         std::min(s_.n, rab.shape[3]), r.bias.data());
    return r;
  }
  double bias_of(int64_t j, const Row& row) const { return row.bias.empty() ? 0 : row.bias[index(j)]; }
  double score_of(int64_t i, int64_t j, const Row& row) const {
    return static_cast<double>(args_.forward.alpha) * (dot(q(i), k(j), dim_qk) + bias_of(j, row));
  }
  Pair pair_of(int64_t i, int64_t j, const Row& row) const {
    const double s = score_of(i, j, row), dp = dot(dout(i), v(j), dim_v);
    if (softmax_) {
      const double p = std::exp(s - row.lse);
      return {p, p * (dp - row.delta), 0};
    }
    return {row.scale * silu(s), row.scale * silu_slope(s) * dp, silu(s) * dp};
  }
  Pair sizes_of(int64_t i, int64_t j, const Row& row) const {
    const Pair exact = pair_of(i, j, row);
    double s = std::fabs(score_of(i, j, row)), dp = std::fabs(dot(dout(i), v(j), dim_v)), delta = std::fabs(row.delta);
    if (args_.forward.q.dtype == HSTU_DTYPE_F32) {
      const double products = std::hypot(size_of_dot(q(i), k(j), dim_qk), bias_of(j, row));
      s = std::max(s, std::fabs(static_cast<double>(args_.forward.alpha)) * products);
      dp = std::max(dp, size_of_dot(dout(i), v(j), dim_v));
      if (softmax_) delta = std::max(delta, size_of_dot(&out_[index(i * dim_v)], dout(i), dim_v));
    }
    if (softmax_) {
      const double p = exact.weight * (args_.forward.q.dtype == HSTU_DTYPE_F32 ? std::max(1.0, s) : 1.0);
      return {p, p * (dp + delta), 0};
    }
    // silu(s) = t + t tanh(t) with t = s / 2, and so its slope.
    const double scale = std::fabs(row.scale), t = s / 2;
    return {std::max(std::fabs(exact.weight), scale * t), std::max(std::fabs(exact.slope), scale * dp * (1 + t) / 2),
            std::max(std::fabs(exact.of_scale), t * dp)};
  }

  const Args& args_;
  const Sequence s_;
  const int64_t head_;
  const SequenceMask mask_;
  const bool softmax_;
  std::vector<double> q_, k_, v_, dout_, out_;
};

double operations_of(const Args& args) { return 2 * operator_of(Op::attention_backward).cost(&args).flops; }

/// Where a task puts what it has: a tensor's rows, or squares of terms added up.
struct Outputs {
  Output dq, dk, dv;
  bool squares;  ///< sums of the squares of the terms instead of sums
  double term(double x) const { return squares ? x * x : x; }
};

void add_terms(std::vector<double>& to, int64_t row, double factor, const double* from, int64_t count, bool squares) {
  double* at = &to[index(row * count)];
  if (!squares) return add(at, factor, from, count);
  for (int64_t d = 0; d < count; ++d) at[d] += factor * from[d] * factor * from[d];
}

/// dq of the heads of one kv head, and its dk and dv.
void run_rows(const Args& args, const Outputs& out, int64_t b, int64_t kv_head) {
  const Sequence s(args, b);
  const int64_t group = args.forward.q.shape[1] / args.forward.k.shape[1];
  const auto alpha = static_cast<double>(args.forward.alpha);
  const int64_t dim_qk = args.forward.q.shape[2], dim_v = args.forward.v.shape[2];
  std::vector<double> dk(index(s.n * dim_qk)), dv(index(s.n * dim_v)), dq(index(dim_qk));
  for (int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    const Head head(args, s, h);
    for (int64_t i = 0; i < s.n; ++i) {
      std::fill(dq.begin(), dq.end(), 0.0);
      head.each_pair(i, out.squares, [&](int64_t j, const Pair& pair) {
        add_terms(dq, 0, alpha * pair.slope, head.k(j), dim_qk, out.squares);
        add_terms(dk, j, alpha * pair.slope, head.q(i), dim_qk, out.squares);
        add_terms(dv, j, pair.weight, head.dout(i), dim_v, out.squares);
      });
      if (present(args.dq)) out.dq.write(s.first + i, 0, dim_qk, dq.data(), h);
    }
  }
  for (int64_t j = 0; j < s.n; ++j) {
    if (present(args.dk)) out.dk.write(s.first + j, 0, dim_qk, &dk[index(j * dim_qk)], kv_head);
    if (present(args.dv)) out.dv.write(s.first + j, 0, dim_v, &dv[index(j * dim_v)], kv_head);
  }
}

/// A table of drab: of one head, or of all. exact: where unrounded values go; null: into the tensor.
void run_bias(const Args& args, double* exact, bool squares, int64_t b, int64_t table) {
  const Sequence s(args, b);
  const hstu_tensor& drab = args.drab;
  const int64_t n = drab.shape[2], tables = drab.shape[1];
  const bool shared = tables == 1;
  std::vector<Head> heads;
  for (int64_t h = shared ? 0 : table; h < (shared ? args.forward.q.shape[1] : table + 1); ++h)
    heads.emplace_back(args, s, h);
  std::vector<double> row(index(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = b * drab.stride[0] + table * drab.stride[1] + i * drab.stride[2];
    std::fill(row.begin(), row.end(), 0.0);
    if (args.accumulate && !squares) load(drab, at, n, row.data());
    for (const Head& head : heads)
      if (i < s.n)
        head.each_pair(i, squares, [&](int64_t j, const Pair& pair) {
          const double term = static_cast<double>(args.forward.alpha) * pair.slope;
          if (j < n) row[index(j)] += squares ? term * term : term;
        });
    if (exact)
      std::copy(row.begin(), row.end(), exact + ((b * tables + table) * n + i) * n);
    else
      store(drab, at, n, row.data());
  }
}

/// d_attn_scale's terms of each row of a sequence, over its silu heads.
std::vector<double> scales_of(const Args& args, int64_t b, bool squares) {
  const Sequence s(args, b);
  std::vector<double> sums(index(s.n));
  for (int64_t h = args.forward.num_softmax_heads; h < args.forward.q.shape[1]; ++h) {
    const Head head(args, s, h);
    for (int64_t i = 0; i < s.n; ++i)
      head.each_pair(i, squares, [&](int64_t, const Pair& pair) {
        sums[index(i)] += squares ? pair.of_scale * pair.of_scale : pair.of_scale;
      });
  }
  return sums;
}

void run_scales(const Args& args, const Output& out, bool squares) {
  const int64_t batch = args.forward.seq_offsets.shape[0] - 1;
  const bool rows = args.forward.attn_scale.shape[0] != 1;
  std::vector<std::vector<double>> of_sequences(index(batch));
  parallel_for(batch, operations_of(args), [&](int64_t b) { of_sequences[index(b)] = scales_of(args, b, squares); });
  double sum = 0, before = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t first = integer_at(args.forward.seq_offsets, b);
    for (size_t i = 0; i < of_sequences[index(b)].size(); ++i) {
      double& own = of_sequences[index(b)][i];
      sum += own;
      if (!rows) continue;
      const int64_t row = first + static_cast<int64_t>(i);
      if (args.accumulate && !squares) load(args.d_attn_scale, row * args.d_attn_scale.stride[0], 1, &before);
      own += before;
      out.write(0, row, 1, &own);
    }
  }
  if (rows) return;
  if (args.accumulate && !squares) load(args.d_attn_scale, 0, 1, &before);
  sum += before;
  out.write(0, 0, 1, &sum);
}

void run_all(const Args& args, double* const* exact, bool squares) {
  const int64_t batch = args.forward.seq_offsets.shape[0] - 1;
  const auto wanted = [&](const hstu_tensor& t, int output) { return present(t) && (!exact || exact[output]); };
  const Outputs out{{args.dq, exact}, {args.dk, exact, 1}, {args.dv, exact, 2}, squares};
  const int64_t kv_heads = args.forward.k.shape[1];
  if (wanted(args.dq, 0) || wanted(args.dk, 1) || wanted(args.dv, 2))
    parallel_for(batch * kv_heads, operations_of(args),
                 [&](int64_t task) { run_rows(args, out, task / kv_heads, task % kv_heads); });
  const int64_t tables = args.drab.shape[1];
  if (wanted(args.drab, 3))
    parallel_for(batch * tables, operations_of(args), [&](int64_t task) {
      run_bias(args, exact ? exact[3] : nullptr, squares, task / tables, task % tables);
    });
  if (wanted(args.d_attn_scale, 4)) run_scales(args, {args.d_attn_scale, exact, 4}, squares);
}

}  // namespace

SizesOfAttentionTerms sizes_of_terms(const Args& args) {
  SizesOfAttentionTerms sizes;
  std::vector<double*> exact;
  for (const auto& [t, to] : {std::pair{&args.dq, &sizes.dq},
                              {&args.dk, &sizes.dk},
                              {&args.dv, &sizes.dv},
                              {&args.drab, &sizes.drab},
                              {&args.d_attn_scale, &sizes.d_attn_scale}}) {
    int64_t count = present(*t) ? 1 : 0;
    for (int d = 0; d < t->rank; ++d) count *= t->shape[d];
    to->resize(index(count));
    exact.push_back(count > 0 ? to->data() : nullptr);
  }
  run_all(args, exact.data(), true);
  for (auto* of : {&sizes.dq, &sizes.dk, &sizes.dv, &sizes.drab, &sizes.d_attn_scale})
    for (double& sum : *of) sum = std::sqrt(sum);
  return sizes;
}

void run(const Args& args, double* const* exact) {
  check_offsets("seq_offsets", args.forward.seq_offsets, args.forward.q.shape[0], "total");
  check_counts("num_targets", args.forward.mask.num_targets);
  check_counts("num_contexts", args.forward.mask.num_contexts);
  run_all(args, exact, false);
}

}  // namespace hstujit::reference
