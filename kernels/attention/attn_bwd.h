// The argument struct of attn_bwd_* kernels, shared by host and device: that of the forward, and what gradients need.
#pragma once
#include "attention/attn_fwd.h"
#include "tile/tile_counter.h"

namespace hstu {

struct AttnBwdParams {
  AttnFwdParams forward;  // its out and lse are read, for softmax heads; row_blocks is not
  const void* dout;       // [total, num_heads, head_dim_v]
  void *dq, *dk, *dv;     // like q, k and v
  void* drab;             // like rab
  float* d_attn_scale;    // like attn_scale
  float* scale_terms;     // [num_heads, total]: what each head adds to d_attn_scale's rows; room for them
  TileCounter* counters;
  long long dout_row_stride, dout_head_stride;
  long long dq_row_stride, dq_head_stride;
  long long dk_row_stride, dk_head_stride;
  long long dv_row_stride, dv_head_stride;
  long long drab_batch_stride, drab_head_stride, drab_row_stride;
  long long total;                                // rows of q
  int key_places, value_places;                   // of blocks of keys: dk, or both; dv where it is apart
  int query_places, bias_places;                  // of blocks of query rows; of tiles of drab
  int key_levels, query_levels;                   // blocks of a sequence covered by places; longer sequences loop
  int bias_tables, bias_row_tiles, bias_columns;  // of drab's places: tables of a sequence; tiles of a table
  int accumulate;                                 // of drab and d_attn_scale: 1 adds to what is there
  int d_attn_scale_rows;                          // 1: a value a row, 0: one value
  // Powers of two that keep 16-bit weights and slopes in range, and their reciprocals.
  float slope_down, slope_up, weight_up, weight_down;
  int reserved;
};
static_assert(sizeof(AttnBwdParams) == 640, "host and device disagree about AttnBwdParams");

}  // namespace hstu
