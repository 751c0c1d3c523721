#include "families/attention/attn_facts.hpp"

#include "operators/attention/attention.hpp"
#include "operators/attention/attention_backward.hpp"
#include "operators/attention/attention_fp8.hpp"

#include <algorithm>
#include <numbers>

namespace hstujit::attn_facts {
namespace {

/// Integer types, head dims and the mask.
void write_sequences(ConfigText& text, const Problem& p) {
  const auto target = static_cast<hstu_dtype>(p[attention::kTargetDtype]);
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[attention::kOffsetDtype])));
  text.type("Target", device_type(target == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : target));
  text.constant("kHeadDimQk", p[attention::kHeadDimQk]);
  text.constant("kHeadDimV", p[attention::kHeadDimV]);
  text.flag("kCausal", p[attention::kMask] == HSTU_MASK_CAUSAL);
  text.flag("kLocal", p[attention::kMask] == HSTU_MASK_LOCAL);
  if (p[attention::kIntervals] > 0) text.constant("kIntervals", p[attention::kIntervals]);
  text.flag("kHasTargets", target != HSTU_DTYPE_NONE);
  text.flag("kTargetGroups", p[attention::kTargetGroups] != 0);
  text.flag("kContextual", p[attention::kContextual] != 0);
  text.flag("kMaxAttnLen", p[attention::kMaxAttnLen] != 0);
  text.flag("kMinFullAttn", p[attention::kMinFullAttn] != 0);
  text.flag("kAttnScale", p[attention::kAttnScale] != 0);
}

}  // namespace

float log2_alpha(float alpha) { return (alpha == 0 ? 1e-30f : alpha) * std::numbers::log2e_v<float>; }

void write(ConfigText& text, const Problem& p) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[attention::kDtype])));
  write_sequences(text, p);
  if (p[attention::kHeadsPerKv] > 1) text.constant("kHeadsPerKv", p[attention::kHeadsPerKv]);
  text.flag("kSilu", p[attention::kSoftmaxHeads] != attention_extras::kAllSoftmax);
  text.flag("kSoftmax", p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax);
  text.flag("kLse", p[attention::kLse] != 0);
  text.flag("kBias", p[attention::kRab] != 0);
}

void fill(hstu::AttnFwdParams& k, const hstu_attention_args& a, const Problem& p) {
  k.q = a.q.data;
  k.k = a.k.data;
  k.v = a.v.data;
  k.out = a.out.data;
  k.seq_offsets = a.seq_offsets.data;
  k.num_targets = a.mask.num_targets.data;
  k.attn_scale = static_cast<const float*>(a.attn_scale.data);
  k.q_row_stride = a.q.stride[0], k.q_head_stride = a.q.stride[1];
  k.k_row_stride = a.k.stride[0], k.k_head_stride = a.k.stride[1];
  k.v_row_stride = a.v.stride[0], k.v_head_stride = a.v.stride[1];
  k.out_row_stride = a.out.stride[0], k.out_head_stride = a.out.stride[1];
  k.batch = static_cast<int>(a.seq_offsets.shape[0] - 1);
  k.num_heads = static_cast<int>(a.q.shape[1]);
  k.half_alpha = a.alpha / 2;
  k.log2_alpha = log2_alpha(a.alpha);
  k.num_softmax_heads = static_cast<int>(a.num_softmax_heads);
  k.lse = static_cast<float*>(a.lse.data);
  k.lse_head_stride = a.lse.stride[0], k.lse_row_stride = a.lse.stride[1];
  k.rab = a.rab.data;
  k.rab_batch_stride = a.rab.stride[0], k.rab_head_stride = a.rab.shape[1] == 1 ? 0 : a.rab.stride[1];
  k.rab_row_stride = a.rab.stride[2];
  k.rab_positions = static_cast<int>(a.rab.shape[2]);
  k.scale = 1.0f / static_cast<float>(a.scaling_seqlen);
  k.attn_scale_stride = p[attention::kAttnScale] == 2;
  constexpr int64_t kMostRows = (int64_t{1} << 31) - 1;
  k.contextual_seq_len = static_cast<int>(std::min(a.mask.contextual_seq_len, kMostRows));
  k.max_attn_len = static_cast<int>(std::min(a.mask.max_attn_len, kMostRows));
  k.min_full_attn_seq_len = static_cast<int>(std::min(a.mask.min_full_attn_seq_len, kMostRows));
  // prepare() has brought these within 32 bits.
  k.target_group_size = static_cast<int>(a.mask.target_group_size);
  k.window_left = static_cast<int>(a.mask.window_left);
  k.window_right = static_cast<int>(a.mask.window_right);
  k.intervals = a.mask.intervals.data;
  k.intervals_head_stride = a.mask.intervals.shape[0] == 1 ? 0 : a.mask.intervals.stride[0];
  k.intervals_bound_stride = a.mask.intervals.stride[1];
  k.num_contexts = a.mask.num_contexts.data;
  k.wide_contexts = a.mask.num_contexts.dtype == HSTU_DTYPE_I64;
  k.moments = static_cast<float*>(a.moments.data);
}

void write_fp8(ConfigText& text, const Problem& p) {
  write_sequences(text, p);
  if (p[attention_fp8::kHeadsPerKv] > 1) text.constant("kHeadsPerKv", p[attention_fp8::kHeadsPerKv]);
  text.flag("kSilu", true);
  text.flag("kSoftmax", false);
  text.flag("kLse", false);
  text.flag("kBias", false);
}

void fill(hstu::AttnFwdParams& k, const hstu_attention_fp8_args& a, const Problem& p) {
  fill(k, attention_fp8::as_attention(a), p);
  k.q_scale = static_cast<const float*>(a.q_descale.data);
  k.k_scale = static_cast<const float*>(a.k_descale.data);
  k.v_scale = static_cast<const float*>(a.v_descale.data);
  using attention_fp8::unit_stride, attention_fp8::head_stride;
  k.q_scale_stride = unit_stride(a.q_descale, a.scaling), k.q_scale_head_stride = head_stride(a.q_descale, a.scaling);
  k.k_scale_stride = unit_stride(a.k_descale, a.scaling), k.k_scale_head_stride = head_stride(a.k_descale, a.scaling);
  k.v_scale_stride = unit_stride(a.v_descale, a.scaling), k.v_scale_head_stride = head_stride(a.v_descale, a.scaling);
}

void write_backward(ConfigText& text, const Problem& p) {
  namespace key = attention_backward;
  text.type("Element", device_type(static_cast<hstu_dtype>(p[key::kDtype])));
  text.type("Mask", p[key::kIntervals] > 0 ? "variant::IntervalBounds<Config>" : "variant::HstuMask<Config>");
  text.type("Sequences", "variant::JaggedSequences<Config>");
  write_sequences(text, p);
  if (p[key::kHeadsPerKv] > 1) text.constant("kHeadsPerKv", p[key::kHeadsPerKv]);
  text.flag("kRowScale", p[key::kAttnScale] == attention_checks::kRowScale);
  text.flag("kSilu", p[key::kSoftmaxHeads] != attention_extras::kAllSoftmax);
  text.flag("kSoftmax", p[key::kSoftmaxHeads] != attention_extras::kNoSoftmax);
  text.flag("kBias", p[key::kRab] != 0);
  text.flag("kHasDq", p[key::kHasDq] != 0);
  text.flag("kHasDk", p[key::kHasDk] != 0);
  text.flag("kHasDv", p[key::kHasDv] != 0);
  text.flag("kDrab", p[key::kDrab] != 0);
  text.flag("kHasDattnScale", p[key::kHasDattnScale] != 0);
}

void fill(hstu::AttnBwdParams& k, const hstu_attention_backward_args& a, const Problem& p) {
  fill(k.forward, a.forward, p);
  k.dout = a.dout.data;
  k.dq = a.dq.data;
  k.dk = a.dk.data;
  k.dv = a.dv.data;
  k.drab = a.drab.data;
  k.d_attn_scale = static_cast<float*>(a.d_attn_scale.data);
  k.scale_terms = static_cast<float*>(a.workspace);
  k.dout_row_stride = a.dout.stride[0], k.dout_head_stride = a.dout.stride[1];
  k.dq_row_stride = a.dq.stride[0], k.dq_head_stride = a.dq.stride[1];
  k.dk_row_stride = a.dk.stride[0], k.dk_head_stride = a.dk.stride[1];
  k.dv_row_stride = a.dv.stride[0], k.dv_head_stride = a.dv.stride[1];
  k.drab_batch_stride = a.drab.stride[0], k.drab_head_stride = a.drab.stride[1];
  k.drab_row_stride = a.drab.stride[2];
  k.total = a.forward.q.shape[0];
  k.accumulate = a.accumulate;
  k.d_attn_scale_rows = a.d_attn_scale.shape[0] != 1;
}

void set_order(hstu::AttnFwdParams& k, int block_m, int64_t rows, int row_blocks, int section_pairs,
               const DeviceFacts& device) {
  k.row_blocks = row_blocks;
  k.section_pairs = section_pairs;
  // A tile of contextual rows goes through all keys; beside a window, that may take longer than an SM's share of the
  // section's other tiles. Where it does not, two sections' keys in L2 at a time cost more than the wait.
  const int64_t keys_of_others = int64_t{k.max_attn_len} + block_m;
  const int64_t beside = int64_t{section_pairs} * (row_blocks - 1) * keys_of_others / device.sm_count;
  const bool contextual = k.contextual_seq_len > 0 || k.num_contexts != nullptr;
  k.first_early = contextual && k.max_attn_len > 0 && rows > 2 * beside;
}

}  // namespace hstujit::attn_facts
