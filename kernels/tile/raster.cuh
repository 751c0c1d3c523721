// The order in which a linear tile index walks a grid of output tiles.
#pragma once
#include "prim/types.cuh"

namespace hstu::tile {

struct TilePosition {
  u32 m, n;  // in tiles
};

// Column after column of tiles within groups of kGroup tile rows, so that tiles computed at the same time share the
// group's rows and few columns, both from L2. The last group may have fewer rows.
template <int kGroup>
HSTU_PRIM TilePosition grouped_raster(u32 tile, u32 tiles_m, u32 tiles_n) {
  const u32 first_m = tile / (kGroup * tiles_n) * kGroup;
  const u32 rest = tile - first_m * tiles_n;
  if (tiles_m - first_m >= kGroup) return {first_m + rest % kGroup, rest / kGroup};
  const u32 rows = tiles_m - first_m;
  return {first_m + rest % rows, rest / rows};
}

}  // namespace hstu::tile
