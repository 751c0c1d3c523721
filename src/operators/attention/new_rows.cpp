#include "operators/attention/new_rows.hpp"

#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::delta_attention {

void check_queries(const checks::Tensor& q, const checks::Tensor& out, const checks::Tensor& v) {
  checks::floating(q);
  checks::same_dtype(out, q);
  checks::extent(out, 0, q.t.shape[0], "total_q = q.shape[0]");
  checks::extent(out, 1, q.t.shape[1], "num_heads = q.shape[1]");
  attention_checks::head_dim("head_dim_qk", q);
  attention_checks::head_dim("head_dim_v", out);
  checks::extent(out, 2, v.t.shape[v.t.rank - 1], "head_dim_v of the values");
  checks::field(q, 1);
  checks::no_self_overlap(out);
  checks::disjoint(out, q);
}

void check_keys(const checks::Tensor& k, const checks::Tensor& v, const checks::Tensor& q, const checks::Tensor& out) {
  const int heads = k.t.rank - 2, dim = k.t.rank - 1;
  for (const checks::Tensor* t : {&k, &v}) {
    checks::same_dtype(*t, q);
    checks::disjoint(out, *t);
  }
  for (int d = 0; d <= heads; ++d) checks::extent(v, d, k.t.shape[d], "that of the keys");
  checks::extent(k, dim, q.t.shape[2], "head_dim_qk = q.shape[2]");
  checks::extent(v, dim, out.t.shape[2], "head_dim_v = out.shape[2]");
  const int64_t own = k.t.shape[heads];
  if (own == 0 ? q.t.shape[1] != 0 : q.t.shape[1] % own != 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[{}] = {}: it must divide num_heads = q.shape[1] = {}", k.name, heads, own,
         q.t.shape[1]);
}

void check_q_offsets(hstu_tensor& q_offsets, int64_t& max_q_len, int64_t batch, const checks::Tensor& q,
                     const checks::Tensor& out) {
  const int64_t total = q.t.shape[0];
  if (!checks::given("q_offsets", q_offsets)) {
    if (batch == 0 ? total != 0 : total % batch != 0)
      fail(HSTU_ERROR_SHAPE_MISMATCH,
           "q.shape[0] = {}: without q_offsets it must be a multiple of batch = {}; give q_offsets for unequal lengths",
           total, batch);
    max_q_len = batch == 0 ? 0 : total / batch;
    return;
  }
  const checks::Tensor offsets = attention_checks::offsets("q_offsets", q_offsets, out);
  checks::extent(offsets, 0, batch + 1, "batch + 1");
  if (max_q_len <= 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "max_q_len = {}: it must be positive with q_offsets; pass the most new rows that a sequence may have",
         max_q_len);
}

QueryRows query_rows(const hstu_tensor& q_offsets, int64_t total_q, int64_t batch, int64_t b) {
  if (present(q_offsets)) return {integer_at(q_offsets, b), integer_at(q_offsets, b + 1)};
  const int64_t each = total_q / batch;
  return {b * each, (b + 1) * each};
}

double bias_count(const hstu_tensor& rab, int64_t n, int64_t queries) {
  if (!present(rab)) return 0;
  const int64_t first = std::max<int64_t>(n - queries, 0), end = std::min(n, rab.shape[2]);
  return static_cast<double>(rab.shape[1]) * static_cast<double>(std::max<int64_t>(end - first, 0)) *
         static_cast<double>(end);
}

Cost cost_of_heads(const hstu_tensor& q, const hstu_tensor& out, double pairs, double keys, double biases,
                   std::initializer_list<const hstu_tensor*> others) {
  const auto dims = static_cast<double>(q.shape[2] + out.shape[2]), rows = static_cast<double>(q.shape[0] * q.shape[1]);
  return {.flops = 2 * pairs * dims,
          .bytes = ((rows + keys) * dims + biases) * size_of(q.dtype) + bytes_of_all(others)};
}

}  // namespace hstujit::delta_attention

namespace hstujit::reference {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

double output_scale(const CachedCall& call, int64_t row) {
  if (!present(call.attn_scale)) return 1 / call.scaling_seqlen;
  const auto* scale = static_cast<const float*>(call.attn_scale.data);
  return scale[call.attn_scale.shape[0] == 1 ? 0 : row * call.attn_scale.stride[0]];
}

/// What rab adds to the score of positions i and j.
double bias_of(const hstu_tensor& rab, const CachedHead& head, int64_t i, int64_t j) {
  if (!present(rab) || i >= rab.shape[2] || j >= rab.shape[3]) return 0;
  double bias = 0;
  load(rab, head.sequence * rab.stride[0] + (rab.shape[1] == 1 ? 0 : head.head) * rab.stride[1] + i * rab.stride[2] + j,
       1, &bias);
  return bias;
}

std::vector<double> gather(int64_t count, int64_t dim, const std::function<void(int64_t, double*)>& row) {
  std::vector<double> out(index(count * dim));
  for (int64_t j = 0; j < count; ++j) row(j, &out[index(j * dim)]);
  return out;
}

}  // namespace

void attend(const CachedCall& call, const CachedHead& head, const Output& out) {
  const std::vector<double> keys = gather(head.keys, call.dim_qk, head.key);
  const std::vector<double> values = gather(head.keys, call.dim_v, head.value);
  std::vector<double> query(index(call.dim_qk)), result(index(call.dim_v));
  for (int64_t r = 0; r < head.queries; ++r) {
    const int64_t row = head.first_q + r, i = head.keys - head.queries + r;
    load(call.q, row * call.q.stride[0] + head.head * call.q.stride[1], call.dim_qk, query.data());
    std::fill(result.begin(), result.end(), 0.0);
    for (int64_t j = 0; i >= 0 && j < head.keys; ++j) {
      if (!head.mask.allows(i, j, head.keys)) continue;
      double score = 0;
      for (int64_t d = 0; d < call.dim_qk; ++d) score += query[index(d)] * keys[index(j * call.dim_qk + d)];
      score += bias_of(call.rab, head, i, j);
      const double p = silu(call.alpha * score) * output_scale(call, row);
      for (int64_t d = 0; d < call.dim_v; ++d) result[index(d)] += p * values[index(j * call.dim_v + d)];
    }
    out.write(row, 0, call.dim_v, result.data(), head.head);
  }
}

}  // namespace hstujit::reference
