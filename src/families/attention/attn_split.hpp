// What the families of kernels/attention/sm80/attn_split.cuh share: attn_split_sm80, attn_delta_sm80 and
// attn_paged_sm80 differ in where queries, keys and values lie.
#pragma once

#include "attention/attn_split.h"
#include "families/family.hpp"

#include <string_view>

namespace hstujit::attn_split {

/// The facts that shape the kernel, of a problem of any of the operators.
struct Facts {
  hstu_dtype element, offset, q_offset, target, page;
  int32_t head_dim_qk, head_dim_v, page_size, mask, intervals, vector;
  bool contextual, max_attn_len, min_full_attn, target_groups, attn_scale, one_scale, bias;
  int32_t rows;  ///< of q in a sequence at most, bucketed
};
Facts facts_of(const Problem& problem);

inline constexpr int kKnobCount = 6;
extern const Knob kKnobs[kKnobCount];
extern const std::span<const Rule> kRules;

/// Elements of 16 bits.
bool covers(const Problem& problem, const DeviceFacts& device);
Config default_config(const Problem& problem, const DeviceFacts& device);
Resources resources(const Problem& problem, const Config& config);
void write_config(ConfigText& text, const Problem& problem, const Config& config);
/// The members that do not depend on the configuration.
void write_facts(ConfigText& text, const Problem& problem);

/// Sequences of a call.
inline int64_t batch_of(const hstu_attention_args& args) { return args.seq_offsets.shape[0] - 1; }
inline int64_t batch_of(const hstu_delta_attention_args& args) { return args.seq_offsets.shape[0] - 1; }
inline int64_t batch_of(const hstu_paged_attention_args& args) { return args.last_page_lens.shape[0]; }

/// All that is read from members of the same names: q, out, k, v, scales, mask. Not row_blocks, nor what says where
/// keys lie.
template <class Args>
void fill(hstu::AttnSplitParams& params, const Args& args, const Problem& problem, int64_t batch);
/// Where the keys of a cache lie, and the queries of its sequences.
void fill_cache(hstu::AttnSplitParams& params, const hstu_delta_attention_args& args, const Problem& problem);
void fill_cache(hstu::AttnSplitParams& params, const hstu_paged_attention_args& args, const Problem& problem);

/// Sets the launch's shape for sequences of at most `rows` queries, total_q in all, and emplaces its params with
/// fill(). Null: there is nothing to do.
template <class Args>
hstu::AttnSplitParams* bind(const Args& args, const Problem& problem, const Config& config, int64_t rows,
                            Launch& launch);

/// The family of one operator, which says in `bind` where keys lie.
inline Family family(std::string_view name, Op op, decltype(Family::covers) covers, decltype(Family::bind) bind) {
  return {
      .name = name,
      .room = "attention",
      .op = op,
      .min_compute_capability = 80,
      .knobs = kKnobs,
      .rules = kRules,
      .covers = covers,
      .default_config = default_config,
      .resources = resources,
      .write_config = write_config,
      .smem_expression = "attn_split_smem_bytes<Config>",
      .bind = bind,
  };
}

}  // namespace hstujit::attn_split
