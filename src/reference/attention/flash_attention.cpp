// Softmax attention, straight from its definition, one query at a time.
#include "problem/operators.hpp"
#include "reference/integers.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace hstujit::reference {
namespace {

using Args = hstu_flash_attention_args;

size_t index(int64_t i) { return static_cast<size_t>(i); }

/// One head of one sequence: where its rows begin in each tensor, in elements.
struct Head {
  int64_t q, k, v, out, lse;  ///< offsets of the first row
  int64_t exact, exact_row;   ///< index of the first result in the buffer of exact ones; distance between rows
  int64_t exact_lse;
  int64_t queries, keys;
};

/// Strides between rows.
struct Rows {
  int64_t q, k, v, out, lse;
};

class Call {
 public:
  Call(const Args& args, double* const* exact)
      : a_(args),
        exact_out_(exact ? exact[0] : nullptr),
        exact_lse_(exact ? exact[1] : nullptr),
        store_(exact == nullptr),
        jagged_(present(args.seq_offsets)),
        heads_(args.q.shape[1]),
        batch_(jagged_ ? args.seq_offsets.shape[0] - 1 : args.q.shape[0]) {
    const int row = jagged_ ? 0 : 2;
    rows_ = {a_.q.stride[row], a_.k.stride[row], a_.v.stride[row], a_.out.stride[row], a_.lse.stride[jagged_ ? 1 : 2]};
  }

  int64_t tasks() const { return batch_ * heads_; }

  void run(int64_t task) const {
    const Head head = head_of(task / heads_, task % heads_);
    std::vector<double> query(index(dim_qk())), key(query), value(index(dim_v())), scores, result;
    for (int64_t i = 0; i < head.queries; ++i) {
      load(a_.q, head.q + i * rows_.q, dim_qk(), query.data());
      const int64_t seen =
          std::clamp<int64_t>(a_.mask == HSTU_MASK_FULL ? head.keys : i + head.keys - head.queries + 1, 0, head.keys);
      scores.assign(index(seen), 0.0);
      for (int64_t j = 0; j < seen; ++j) {
        load(a_.k, head.k + j * rows_.k, dim_qk(), key.data());
        for (size_t d = 0; d < key.size(); ++d) scores[index(j)] += query[d] * key[d];
        scores[index(j)] *= static_cast<double>(a_.scale);
      }
      const double lse = to_weights(scores);
      result.assign(index(dim_v()), 0.0);
      for (int64_t j = 0; j < seen; ++j) {
        load(a_.v, head.v + j * rows_.v, dim_v(), value.data());
        for (size_t d = 0; d < value.size(); ++d) result[d] += scores[index(j)] * value[d];
      }
      write(head, i, result, lse);
    }
  }

 private:
  int64_t dim_qk() const { return a_.q.shape[a_.q.rank - 1]; }
  int64_t dim_v() const { return a_.v.shape[a_.v.rank - 1]; }

  Head head_of(int64_t b, int64_t h) const {
    if (jagged_) {
      const int64_t first = integer_at(a_.seq_offsets, b), n = integer_at(a_.seq_offsets, b + 1) - first;
      const auto start = [&](const hstu_tensor& t) { return first * t.stride[0] + h * t.stride[1]; };
      return {start(a_.q),
              start(a_.k),
              start(a_.v),
              start(a_.out),
              h * a_.lse.stride[0] + first * a_.lse.stride[1],
              (first * heads_ + h) * dim_v(),
              heads_ * dim_v(),
              h * a_.q.shape[0] + first,
              n,
              n};
    }
    const auto start = [&](const hstu_tensor& t) { return b * t.stride[0] + h * t.stride[1]; };
    const int64_t queries = a_.q.shape[2], pair = b * heads_ + h;
    return {start(a_.q), start(a_.k),    start(a_.v), start(a_.out), start(a_.lse), pair * queries * dim_v(),
            dim_v(),     pair * queries, queries,     a_.k.shape[2]};
  }

  /// Scores become weights; returns their log-sum-exp.
  static double to_weights(std::vector<double>& scores) {
    if (scores.empty()) return -std::numeric_limits<double>::infinity();
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& s : scores) sum += s = std::exp(s - most);
    for (double& s : scores) s /= sum;
    return most + std::log(sum);
  }

  void write(const Head& head, int64_t i, const std::vector<double>& result, double lse) const {
    if (store_) store(a_.out, head.out + i * rows_.out, dim_v(), result.data());
    if (store_ && present(a_.lse)) store(a_.lse, head.lse + i * rows_.lse, 1, &lse);
    if (exact_out_) std::copy(result.begin(), result.end(), exact_out_ + head.exact + i * head.exact_row);
    if (exact_lse_) exact_lse_[head.exact_lse + i] = lse;
  }

  const Args& a_;
  double *exact_out_, *exact_lse_;
  bool store_, jagged_;
  int64_t heads_, batch_;
  Rows rows_{};
};

}  // namespace

void run(const Args& args, double* const* exact) {
  if (present(args.seq_offsets)) check_offsets("seq_offsets", args.seq_offsets, args.q.shape[0], "total");
  const Call call(args, exact);
  parallel_for(call.tasks(), operator_of(Op::flash_attention).work(&args).flops, [&](int64_t task) { call.run(task); });
}

}  // namespace hstujit::reference
