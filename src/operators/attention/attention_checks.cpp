#include "operators/attention/attention_checks.hpp"

#include "support/error.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::attention_checks {
namespace {

/// Kernels count positions in 32 bits; larger counts mean the same as this one for every sequence that can be computed.
constexpr int64_t kManyPositions = int64_t{1} << 30;

std::string_view word(hstu_mask mask) { return kMaskWords[static_cast<size_t>(mask)]; }

/// An option that belongs to another mask.
void refuse_option(const char* name, int64_t value, hstu_mask mask, const char* owner) {
  if (value != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: mask.kind = {} does not use it; leave it 0 or use {}", name, value,
         word(mask), owner);
}

void check_causal(hstu_mask_options& o) {
  const auto check = [&](const char* name, auto& value, int64_t off) {
    checks::not_negative(name, value, "0 means off");
    if (o.kind != HSTU_MASK_CAUSAL && value != off) refuse_option(name, value, o.kind, "causal");
    value = static_cast<std::remove_reference_t<decltype(value)>>(std::min<int64_t>(value, kManyPositions));
  };
  check("contextual_seq_len", o.contextual_seq_len, 0);
  check("max_attn_len", o.max_attn_len, 0);
  check("min_full_attn_seq_len", o.min_full_attn_seq_len, 0);
  check("target_group_size", o.target_group_size, 1);  // groups of one are none
  for (const auto& [name, t] : {std::pair{"num_targets", &o.num_targets}, {"num_contexts", &o.num_contexts}})
    if (o.kind != HSTU_MASK_CAUSAL && present(*t))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there: mask.kind = {} does not use it; leave it out or use causal", name,
           word(o.kind));
  if (o.max_attn_len == 0) o.min_full_attn_seq_len = 0;  // it exempts from that limit only
  if (!present(o.num_targets)) o.target_group_size = 0;  // there is nothing to group
  o.target_group_size = std::max(o.target_group_size, 1);
}

void check_local(hstu_mask_options& o) {
  if (o.kind != HSTU_MASK_LOCAL) {
    refuse_option("window_left", o.window_left, o.kind, "local");
    refuse_option("window_right", o.window_right, o.kind, "local");
  }
  for (int64_t* side : {&o.window_left, &o.window_right}) *side = std::clamp<int64_t>(*side, -1, kManyPositions);
}

int32_t check_intervals(hstu_mask_options& o, const checks::Tensor& q, const checks::Tensor& out) {
  if (o.kind != HSTU_MASK_INTERVALS) {
    if (checks::given("intervals", o.intervals))
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "intervals is there: mask.kind = {} does not use it; leave it out or use intervals", word(o.kind));
    return 0;
  }
  const checks::Tensor intervals = checks::required<3>("intervals", o.intervals);
  if (intervals.t.dtype != HSTU_DTYPE_I32) checks::refuse_dtype(intervals, "it must be i32");
  if (intervals.t.shape[0] != 1) checks::extent(intervals, 0, q.t.shape[1], "1 or num_heads = q.shape[1]");
  const int64_t bounds = intervals.t.shape[1];
  if (bounds % 2 == 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "intervals.shape[1] = {}: it must be odd, 2 n - 1 bounds for n intervals", bounds);
  if (bounds > 2 * kMaxIntervals - 1)
    fail(HSTU_ERROR_UNSUPPORTED, "intervals.shape[1] = {}: kernels cover up to {}, that is {} intervals", bounds,
         2 * kMaxIntervals - 1, kMaxIntervals);
  checks::extent(intervals, 2, q.t.shape[0], "the rows of q");
  checks::disjoint(out, intervals);
  return static_cast<int32_t>(bounds / 2 + 1);
}

}  // namespace

void head_dim(const char* name, const checks::Tensor& a) {
  const int64_t dim = a.t.shape[a.t.rank - 1];
  if (dim < 1 || dim > 256)
    fail(HSTU_ERROR_UNSUPPORTED, "{} = {} ({}.shape[{}]): attention covers 1 to 256", name, dim, a.name, a.t.rank - 1);
}

void heads(const checks::Tensor& q, const checks::Tensor& k, const checks::Tensor& v, const checks::Tensor& out) {
  checks::extent(out, 1, q.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(v, 1, k.t.shape[1], "num_kv_heads = k.shape[1]");
  head_dim("head_dim_qk", q);
  head_dim("head_dim_v", v);
  checks::extent(k, 2, q.t.shape[2], "head_dim_qk = q.shape[2]");
  checks::extent(out, 2, v.t.shape[2], "head_dim_v = v.shape[2]");
  checks::no_self_overlap(out);
  for (const checks::Tensor* in : {&q, &k, &v}) checks::disjoint(out, *in);
}

int32_t heads_per_kv(const checks::Tensor& q, const checks::Tensor& k) {
  const int64_t heads = q.t.shape[1], kv_heads = k.t.shape[1];
  if (kv_heads == heads) return 1;
  if (kv_heads == 0 || heads % kv_heads != 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "k.shape[1] = {}: it must divide num_heads = q.shape[1] = {}", kv_heads, heads);
  checks::field(q, 1);
  return static_cast<int32_t>(heads / kv_heads);
}

checks::Tensor offsets(const char* name, hstu_tensor& t, const checks::Tensor& out) {
  const checks::Tensor offsets = checks::required<1>(name, t);
  checks::integer(offsets);
  if (t.shape[0] < 1)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[0] = 0: it must be batch + 1; give one offset, 0, for an empty batch",
         name);
  checks::disjoint(out, offsets);
  return offsets;
}

void softmax_heads(int64_t num_softmax_heads, int64_t num_heads) {
  if (num_softmax_heads < 0 || num_softmax_heads > num_heads)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_softmax_heads = {}: it must lie in 0 to num_heads = {}", num_softmax_heads,
         num_heads);
}

void no_softmax_heads(int32_t num_softmax_heads) {
  if (num_softmax_heads != 0)
    fail(HSTU_ERROR_UNSUPPORTED, "num_softmax_heads = {}: this operator has no softmax heads; leave it 0",
         num_softmax_heads);
}

void targets(hstu_tensor& t, int64_t batch, const checks::Tensor& out) {
  if (!checks::given("num_targets", t)) return;
  const checks::Tensor targets = checks::required<1>("num_targets", t);
  checks::integer(targets);
  checks::extent(targets, 0, batch, "batch = seq_offsets.shape[0] - 1");
  checks::disjoint(out, targets);
}

int32_t contexts(hstu_tensor& t, int64_t contextual_seq_len, int64_t batch, const checks::Tensor& out) {
  if (!checks::given("num_contexts", t)) return contextual_seq_len > 0 ? kOneContext : kNoContext;
  if (contextual_seq_len != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "contextual_seq_len = {}: num_contexts is there and gives each sequence its own; leave one of them out",
         contextual_seq_len);
  const checks::Tensor contexts = checks::required<1>("num_contexts", t);
  checks::integer(contexts);
  checks::extent(contexts, 0, batch, "batch = seq_offsets.shape[0] - 1");
  checks::disjoint(out, contexts);
  return kOwnContexts;
}

int32_t scale(hstu_tensor& t, const checks::Tensor& out) {
  if (!checks::given("attn_scale", t)) return kNoScale;
  const checks::Tensor scale = checks::required<1>("attn_scale", t);
  checks::is_f32(scale);
  if (t.shape[0] != 1) checks::extent(scale, 0, out.t.shape[0], "1 or total = q.shape[0]");
  checks::disjoint(out, scale);
  return t.shape[0] == 1 ? kOneScale : kRowScale;
}

int32_t bias(hstu_tensor& t, int64_t batch, const checks::Tensor& q, const checks::Tensor& out) {
  if (!checks::given("rab", t)) return attention_extras::kNoBias;
  const checks::Tensor rab = checks::required<4>("rab", t);
  checks::same_dtype(rab, q);
  checks::extent(rab, 0, batch, "batch, the number of sequences");
  if (rab.t.shape[1] != 1) checks::extent(rab, 1, q.t.shape[1], "1 or num_heads = q.shape[1]");
  checks::extent(rab, 3, rab.t.shape[2], "the positions rab.shape[2]");
  checks::field(rab, 2);  // kernels count positions in 32 bits
  checks::disjoint(out, rab);
  checks::Vector vector(rab.t.dtype);
  vector.tensor(rab.t);
  for (int d = 0; d < 3; ++d) vector.lines(rab.t.shape[d], rab.t.stride[d], rab.t.shape[3]);
  const bool chunks = rab.t.shape[3] > 0 && vector.elements() * checks::element_bytes(rab.t.dtype) == 16;
  return chunks ? attention_extras::kBiasInChunks : attention_extras::kBias;
}

void lengths(int64_t max_seq_len, int64_t& scaling_seqlen) {
  if (max_seq_len <= 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "max_seq_len = {}: it must be positive; pass the longest length to expect",
         max_seq_len);
  checks::not_negative("scaling_seqlen", scaling_seqlen, "0 means max_seq_len");
  if (scaling_seqlen == 0) scaling_seqlen = max_seq_len;
}

float alpha(float given, int64_t head_dim) {
  checks::finite("alpha", given);
  return checks::given_or(given, static_cast<float>(1 / std::sqrt(static_cast<double>(head_dim))));
}

int32_t mask(hstu_mask_options& options, const checks::Tensor& q, const checks::Tensor& out) {
  const int mask = checks::code(options.kind);
  if (mask < HSTU_MASK_CAUSAL || mask > HSTU_MASK_INTERVALS)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "mask.kind = {}: use CAUSAL (0), FULL (1), LOCAL (2) or INTERVALS (3)", mask);
  check_causal(options);
  check_local(options);
  return check_intervals(options, q, out);
}

}  // namespace hstujit::attention_checks
