// The argument struct of attn_delta_sm90, shared by host and device: that of the other kernels of new rows against
// cached keys, the maps through which TMA reads q, k and v and writes out, and the counters of tiles.
#pragma once
#include "attention/attn_split.h"
#include "tile/tensor_map.h"
#include "tile/tile_counter.h"

namespace hstu {

struct AttnDeltaSm90Params {
  TensorMap q, k, v;  // boxes of 128 bytes and kBlockM or kBlockN rows; tile/jagged_map.cuh says how rows are found
  TensorMap out;      // boxes of 64 columns and 16 rows
  TensorMap rab;      // boxes of 64 columns and kBlockM rows, by column, row, head and sequence; only if Config::kBias
  AttnSplitParams attn;
  TileCounter* tile_counters;  // filled by the launch, for the context has them
};
static_assert(sizeof(AttnDeltaSm90Params) == 1024, "host and device disagree about AttnDeltaSm90Params");

}  // namespace hstu
