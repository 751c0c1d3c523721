// What the families of kernels/tile/product.cuh share: the knobs of a tile, what follows from them, and where results
// in parts lie. Each adds knobs of its own behind these, and values for all of them.
#pragma once

#include "families/family.hpp"

namespace hstujit::tile_product {

enum : int { kBlockM, kBlockN, kBlockK, kWarpsM, kWarpsN, kStages, kGroup, kSharedKnobs };

inline int warps(const Config& c) { return c[kWarpsM] * c[kWarpsN]; }
inline int threads(const Config& c) { return 32 * warps(c); }
inline int warp_m(const Config& c) { return c[kBlockM] / c[kWarpsM]; }  ///< rows of a warp's part of a tile
inline int warp_n(const Config& c) { return c[kBlockN] / c[kWarpsN]; }  ///< and columns

/// Members of the kernel's Config that follow from the knobs.
inline void write_knobs(ConfigText& text, const Config& c, bool persistent, int min_blocks) {
  text.constant("kBlockM", c[kBlockM]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kBlockK", c[kBlockK]);
  text.constant("kWarpsM", c[kWarpsM]);
  text.constant("kWarpsN", c[kWarpsN]);
  text.constant("kThreads", threads(c));
  text.constant("kStages", c[kStages]);
  text.constant("kGroup", c[kGroup]);
  text.flag("kPersistent", persistent);
  text.constant("kMinBlocks", min_blocks);
}

/// The parts of a result, of which all but the first may be absent, and the column where each begins.
template <class Params>
void set_result(const hstu_tensor* const (&parts)[4], Params& params) {
  int64_t first = 0;
  int part = 0;
  for (const hstu_tensor* out : parts) {
    params.out[part] = out->data;
    params.out_row_stride[part] = out->stride[0];
    params.out_first[part++] = first;
    first += out->shape[1];
  }
}

}  // namespace hstujit::tile_product
