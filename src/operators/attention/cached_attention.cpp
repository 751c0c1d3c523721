#include "operators/attention/cached_attention.hpp"

#include "support/element.hpp"

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
