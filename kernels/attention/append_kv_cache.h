// Parameters of append_kv_cache_*, shared by host and device: fixed-width members only. Strides are in bytes.
#pragma once

namespace hstu {

// Keys or values: new rows, and the cache they go to.
struct AppendKvCacheSide {
  const void* rows;  // [total, heads, head_dim]
  void* cache;       // [pages, page_size, heads, head_dim]
  long long row_stride, head_stride;
  long long page_stride, slot_stride, cache_head_stride;
};
static_assert(sizeof(AppendKvCacheSide) == 56, "host and device disagree about AppendKvCacheSide");

// append_kv_cache_*: new rows of keys and values to the end of each sequence's pages.
struct AppendKvCacheParams {
  AppendKvCacheSide k, v;
  const void* page_offsets;     // [batch + 1], Config::Page; null: sequence b has page b
  const void* page_ids;         // Config::Page; null like page_offsets
  const void* last_page_lens;   // [batch], Config::Page
  const void* seq_offsets;      // [batch + 1], Config::Offset; null: Config::Offset is tile::Dense
  const void* num_targets;      // [batch], Config::Target; read only when Config::kHasTargets
  long long total;              // rows of k and v
  long long rows_per_sequence;  // read only when Config::Offset is tile::Dense
  long long density;            // 2^32 sequences / rows
  int batch;
  unsigned k_blocks;  // the first blocks of the grid copy k, the others v
};
static_assert(sizeof(AppendKvCacheParams) == 184, "host and device disagree about AppendKvCacheParams");

}  // namespace hstu
