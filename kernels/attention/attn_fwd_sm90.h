// The argument struct of attn_fwd_sm90, shared by host and device: that of the other attention kernels, the maps
// through which TMA reads q, k, v and a relative bias and writes out, and the counters of tiles.
#pragma once
#include "attention/attn_fwd.h"
#include "tile/tensor_map.h"
#include "tile/tile_counter.h"

namespace hstu {

struct AttnFwdSm90Params {
  TensorMap q, k, v;  // boxes of 128 bytes and kBlockM or kBlockN rows; tile/jagged_map.cuh says how rows are found
  TensorMap out;      // boxes of 64 columns and 16 rows
  TensorMap rab;      // boxes of 64 columns and kBlockM rows, by column, row, head and sequence; only if Config::kBias
  AttnFwdParams attn;
  TileCounter* tile_counters;  // filled by the launch, for the context has them
};
static_assert(sizeof(AttnFwdSm90Params) == 1152, "host and device disagree about AttnFwdSm90Params");

}  // namespace hstu
