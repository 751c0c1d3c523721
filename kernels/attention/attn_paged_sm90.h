// The argument struct of attn_paged_sm90, shared by host and device: as AttnDeltaSm90Params, but keys and values lie in
// pages.
#pragma once
#include "attention/attn_split.h"
#include "attention/paged_maps.h"
#include "tile/tile_counter.h"

namespace hstu {

struct AttnPagedSm90Params {
  TensorMap q;  // boxes of 128 bytes and kBlockM rows
  PagedMaps k, v;
  TensorMap out;  // boxes of 64 columns and 16 rows
  TensorMap rab;  // boxes of 64 columns and kBlockM rows, by column, row, head and sequence; only if Config::kBias
  AttnSplitParams attn;
  TileCounter* tile_counters;  // filled by the launch, for the context has them
};
static_assert(sizeof(AttnPagedSm90Params) == 1280, "host and device disagree about AttnPagedSm90Params");

}  // namespace hstu
