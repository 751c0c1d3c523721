// attn_fwd_sm80: jagged HSTU attention with the instructions of sm_80, kernels/attn_fwd_sm80.cuh.
#include "families/attn_space.hpp"
#include "families/families.hpp"
#include "params/attn_fwd.h"
#include "problem/attention_extras.hpp"
#include "problem/attention_fields.hpp"

#include <algorithm>
#include <numbers>

namespace hstujit {
namespace {

/// Registers that options take, beside the sums of softmax. Element-wise copies are allowed so many that these fit,
/// too.
int32_t spare_registers(const Problem& p) {
  if (p[attention::kVector] != 8) return 0;
  const bool mixed = p[attention::kSoftmaxHeads] == attention_extras::kSomeSoftmax, bias = p[attention::kRab] != 0;
  const bool special = mixed || bias || p[attention::kIntervals] > 0 || p[attention::kTargetGroups] ||
                       p[attention::kMask] == HSTU_MASK_LOCAL;
  const int kinds =
      attn_space::panel_kinds(p[attention::kHeadDimQk]) + attn_space::panel_kinds(p[attention::kHeadDimV]);
  return special ? (mixed ? 16 : 0) + (bias ? 16 : 0) + 6 * (kinds - 2) : 0;
}

attn_space::Shape shape_of(const Problem& p) {
  return {.head_dim_qk = p[attention::kHeadDimQk],
          .head_dim_v = p[attention::kHeadDimV],
          .vector = p[attention::kVector] == 8,
          .softmax = p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax,
          .intervals = p[attention::kIntervals],
          .spare = spare_registers(p)};
}

bool covers(const Problem& p, const DeviceFacts&) {
  return p[attention::kDtype] == HSTU_DTYPE_BF16 || p[attention::kDtype] == HSTU_DTYPE_F16;
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return attn_space::default_config(shape_of(p), device);
}
Resources resources(const Problem& p, const Config& c) { return attn_space::resources(shape_of(p), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto target = static_cast<hstu_dtype>(p[attention::kTargetDtype]);
  text.type("Element", device_type(static_cast<hstu_dtype>(p[attention::kDtype])));
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[attention::kOffsetDtype])));
  text.type("Target", device_type(target == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : target));
  text.type("Mask", p[attention::kIntervals] > 0 ? "variant::IntervalMask<Config>" : "variant::HstuMask<Config>");
  text.type("Sequences", "variant::JaggedSequences<Config>");
  text.type("Keys", "tile::KeyRows<Config>");
  text.constant("kHeadDimQk", p[attention::kHeadDimQk]);
  text.constant("kHeadDimV", p[attention::kHeadDimV]);
  text.flag("kVectorIo", p[attention::kVector] == 8);
  text.flag("kCausal", p[attention::kMask] == HSTU_MASK_CAUSAL);
  text.flag("kLocal", p[attention::kMask] == HSTU_MASK_LOCAL);
  if (p[attention::kIntervals] > 0) text.constant("kIntervals", p[attention::kIntervals]);
  text.flag("kHasTargets", target != HSTU_DTYPE_NONE);
  text.flag("kTargetGroups", p[attention::kTargetGroups] != 0);
  text.flag("kContextual", p[attention::kContextual] != 0);
  text.flag("kMaxAttnLen", p[attention::kMaxAttnLen] != 0);
  text.flag("kMinFullAttn", p[attention::kMinFullAttn] != 0);
  text.flag("kAttnScale", p[attention::kAttnScale] != 0);
  text.flag("kSilu", p[attention::kSoftmaxHeads] != attention_extras::kAllSoftmax);
  text.flag("kSoftmax", p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax);
  text.flag("kLse", p[attention::kLse] != 0);
  text.flag("kBias", p[attention::kRab] != 0);
  attn_space::write_knobs(text, c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  const int64_t batch = a.seq_offsets.shape[0] - 1, heads = a.q.shape[1], pairs = batch * heads;
  const int64_t rows = std::min(a.max_seq_len, a.q.shape[0]);
  const int row_blocks = attn_space::set_grid(launch, shape_of(p), c, pairs, rows);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  k.q = a.q.data;
  k.k = a.k.data;
  k.v = a.v.data;
  k.out = a.out.data;
  k.seq_offsets = a.seq_offsets.data;
  k.num_targets = a.num_targets.data;
  k.attn_scale = static_cast<const float*>(a.attn_scale.data);
  k.q_row_stride = a.q.stride[0], k.q_head_stride = a.q.stride[1];
  k.k_row_stride = a.k.stride[0], k.k_head_stride = a.k.stride[1];
  k.v_row_stride = a.v.stride[0], k.v_head_stride = a.v.stride[1];
  k.out_row_stride = a.out.stride[0], k.out_head_stride = a.out.stride[1];
  k.batch = static_cast<int>(batch);
  k.num_heads = static_cast<int>(heads);
  k.row_blocks = row_blocks;
  k.half_alpha = a.alpha / 2;
  k.log2_alpha = a.alpha * std::numbers::log2e_v<float>;
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
  k.contextual_seq_len = static_cast<int>(std::min(a.contextual_seq_len, kMostRows));
  k.max_attn_len = static_cast<int>(std::min(a.max_attn_len, kMostRows));
  k.min_full_attn_seq_len = static_cast<int>(std::min(a.min_full_attn_seq_len, kMostRows));
  // prepare() has brought these within 32 bits.
  k.target_group_size = static_cast<int>(a.target_group_size);
  k.window_left = static_cast<int>(a.window_left);
  k.window_right = static_cast<int>(a.window_right);
  k.intervals = a.intervals.data;
  k.intervals_head_stride = a.intervals.shape[0] == 1 ? 0 : a.intervals.stride[0];
  k.intervals_bound_stride = a.intervals.stride[1];
  k.num_contexts = a.num_contexts.data;
  k.wide_contexts = a.num_contexts.dtype == HSTU_DTYPE_I64;
  k.section_pairs =
      attn_space::section_pairs(pairs, pairs * rows * (a.q.shape[2] + a.v.shape[2]) * size_of(a.q.dtype), device);
}

}  // namespace

const Family kAttnFwdSm80 = {
    .name = "attn_fwd_sm80",
    .op = Op::hstu_attention,
    .min_compute_capability = 80,
    .knobs = attn_space::kKnobs,
    .rules = attn_space::kRules<shape_of>,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_fwd_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
