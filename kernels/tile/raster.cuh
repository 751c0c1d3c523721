// The order in which a linear tile index walks a grid of output tiles.
#pragma once
#include "prim/types.cuh"

namespace hstu {

struct TilePosition {
  u32 m, n;  // in tiles
};

// Column after column of tiles within groups of `group` tile rows, so that tiles computed at the same time share the
// group's rows and few columns, both from L2. The last group may have fewer rows.
HSTU_PRIM TilePosition grouped_raster(u32 tile, u32 tiles_m, u32 tiles_n, u32 group) {
  const u32 first_m = tile / (group * tiles_n) * group;
  const u32 rows = min(tiles_m - first_m, group);
  const u32 rest = tile - first_m * tiles_n;
  return {first_m + rest % rows, rest / rows};
}

}  // namespace hstu
