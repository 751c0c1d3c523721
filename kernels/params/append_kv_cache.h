// Parameters of append_kv_cache_*, shared by host and device: fixed-width members only. Strides are in bytes.
#pragma once

namespace hstu {

// append_kv_cache_*: new rows of keys and values to the end of each sequence's pages.
struct AppendKvCacheParams {
  const void* k;                // [total, heads, head_dim_qk]
  const void* v;                // [total, heads, head_dim_v]
  void* k_cache;                // [pages, page_size, heads, head_dim_qk]
  void* v_cache;                // [pages, page_size, heads, head_dim_v]
  const void* page_offsets;     // [batch + 1], Config::Page; null: sequence b has page b
  const void* page_ids;         // Config::Page; null like page_offsets
  const void* last_page_lens;   // [batch], Config::Page
  const void* seq_offsets;      // [batch + 1], Config::Offset; read only when Config::kJagged
  const void* num_targets;      // [batch], Config::Target; read only when Config::kHasTargets
  long long total;              // rows of k and v
  long long rows_per_sequence;  // read unless Config::kJagged
  long long k_row_stride, k_head_stride;
  long long v_row_stride, v_head_stride;
  long long k_page_stride, k_slot_stride, k_cache_head_stride;
  long long v_page_stride, v_slot_stride, v_cache_head_stride;
  int batch;
  int reserved;
};
static_assert(sizeof(AppendKvCacheParams) == 176, "host and device disagree about AppendKvCacheParams");

}  // namespace hstu
