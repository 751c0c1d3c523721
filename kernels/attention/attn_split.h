// Parameters of attn_split_*, attn_delta_* and attn_paged_*, shared by host and device: fixed-width members only,
// passed by value as the kernel's one parameter. Strides are in elements.
#pragma once

namespace hstu {

// Jagged HSTU attention of each sequence's newest rows, or all, forward; keys and values jagged or in pages.
struct AttnSplitParams {
  const void* q;               // [total_q, num_heads, head_dim_qk]
  const void* k;               // [total, num_heads, head_dim_qk]; paged: of the new rows, [total_q, ...]
  const void* v;               // [total, num_heads, head_dim_v]; paged: of the new rows
  void* out;                   // [total_q, num_heads, head_dim_v]
  const void* seq_offsets;     // [batch + 1], Config::Offset, of k and v; not read when paged
  const void* q_offsets;       // [batch + 1], Config::QOffset, of q; read only when Config::kJaggedQ
  const void* num_targets;     // [batch], Config::Target; read only when Config::kHasTargets
  const float* attn_scale;     // one, or one a row of q; read only when Config::kAttnScale
  const void* k_cache;         // [pages, page_size, num_heads, head_dim_qk]; this and what follows only when paged
  const void* v_cache;         // [pages, page_size, num_heads, head_dim_v]
  const void* page_offsets;    // [batch + 1], Config::Page; null: sequence b has page b
  const void* page_ids;        // [page_offsets[batch]], Config::Page; null like page_offsets
  const void* last_page_lens;  // [batch], Config::Page
  const void* intervals;       // [1 or num_heads, 2 kIntervals - 1, total_q] i32; read only when Config::kIntervals > 0
  const void* num_contexts;    // [batch], or null: contextual_seq_len for all; read only when Config::kContextual
  long long q_row_stride, q_head_stride;
  long long k_row_stride, k_head_stride;
  long long v_row_stride, v_head_stride;
  long long out_row_stride, out_head_stride;
  long long k_page_stride, k_slot_stride, k_cache_head_stride;
  long long v_page_stride, v_slot_stride, v_cache_head_stride;
  long long intervals_head_stride, intervals_bound_stride;
  int batch;
  int num_heads;
  int heads_per_kv;               // query heads that share a head of k and v
  int delta;                      // rows of q a sequence; read unless Config::kJaggedQ
  int row_blocks;                 // row blocks of a sequence covered by the grid; longer sequences loop
  float half_alpha;               // logit scale / 2: silu(x) comes from tanh(x / 2)
  float scale;                    // output scale, 1 / scaling_seqlen; attn_scale replaces it
  int attn_scale_stride;          // 0: one value for all rows, 1: a value a row
  int contextual_seq_len;         // read only when Config::kContextual
  int max_attn_len;               // read only when Config::kMaxAttnLen; 0: no limit
  int min_full_attn_seq_len;      // read only when Config::kMinFullAttn; 0: off
  int target_group_size;          // read only when Config::kTargetGroups
  int window_left, window_right;  // read only when Config::kLocal; negative: no limit
  int wide_contexts;              // 1: num_contexts are i64, 0: i32
  int page_rows;      // slots from one page to the next, of k_cache and v_cache; read only by attn_paged_sm90
  int rab_positions;  // read, as what follows, only when Config::kBias
  const void* rab;    // [batch, 1 or num_heads, rab_positions, rab_positions], by positions in the sequence
  long long rab_row_stride, rab_head_stride, rab_batch_stride;
};
static_assert(sizeof(AttnSplitParams) == 352, "host and device disagree about AttnSplitParams");

}  // namespace hstu
