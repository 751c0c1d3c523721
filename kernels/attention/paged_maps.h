// The maps through which TMA reads keys or values of a cache in pages and of the new rows behind them.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

struct PagedMaps {
  TensorMap pages;     // boxes of 128 bytes and Config::kPieceRows slots; tile/jagged_map.cuh says how they are found
  TensorMap new_rows;  // boxes of 128 bytes and kBlockN rows, likewise; read only when Config::kHasTargets
};

}  // namespace hstu
