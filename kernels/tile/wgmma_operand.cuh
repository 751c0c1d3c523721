// An operand of a matrix product on wgmma: a slice of it in shared memory as TMA's 128-byte-wide boxes leave it, how it
// gets there and how wgmma finds it. Either storage order of a 16-bit matrix; FP8 along k only.
//
// "Extent" is the operand's own dimension (rows of x, columns of w), k the one summed over; a slice is 128 bytes of k.
// Along k a slice is kExtent lines of 128 bytes; along the extent it is panels of 64 elements, a line per k. In both,
// 64 further along the extent is 8192 bytes further on, unless a slice along the extent is of fewer k. Along k a slice
// may be of 64 bytes, too, and so are its lines then.
#pragma once
#include "prim/tma.cuh"
#include "prim/wgmma.cuh"

namespace hstu::tile {

// kAlongK: memory is contiguous along k. kShares: blocks of a cluster that each fetch a part of every panel for all.
// kBlockK: k of a slice.
template <class Element, int kExtent, bool kAlongK, int kShares = 1,
          int kBlockK_ = 128 / static_cast<int>(sizeof(Element))>
struct WgmmaOperand {
  enum : int { kBlockK = kBlockK_ };
  enum : int { kSliceBytes = kBlockK * static_cast<int>(sizeof(Element)) };  // of one row or column
  enum : int { kSteps = kSliceBytes / 32 };                                  // products along k per slice
  enum : int { kMajor = kAlongK ? 0 : 1 };
  enum : int { kBytes = kExtent * kSliceBytes };
  enum : int { kLineBytes = kAlongK ? static_cast<int>(kSliceBytes) : 128 };
  enum : int { kPanelLines = kAlongK ? kExtent : kBlockK };
  enum : int { kPanels = kAlongK ? 1 : kExtent / 64 };
  enum : int { kBoxLines = kPanelLines / kShares };  // of the tensor map's box, which is 128 bytes wide
  static_assert(kAlongK || sizeof(Element) == 2, "operands of 8 bits lie along k");
  static_assert(kAlongK || kExtent % 64 == 0, "along the extent a slice is panels of 64 elements");
  static_assert(kLineBytes == 128 || kLineBytes == 64, "there is a swizzle for each of these lines");
  static_assert(kBoxLines % 8 == 0 && kBoxLines <= 256, "a box has whole groups of 8 lines, 256 at most");

  // Fetches the slice at `extent` and `k`; with kShares, the part of block `rank` for all of its cluster.
  HSTU_PRIM static void load(u32 to, const TensorMap* map, u32 barrier, i32 extent, i32 k, u32 rank) {
    const u32 share = kShares == 1 ? 0 : rank;
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel) {
      const i32 line = static_cast<i32>(share) * kBoxLines;
      const u32 dst = to + panel * kPanelLines * 128 + share * kBoxLines * kLineBytes;
      const i32 x = kAlongK ? k : extent + 64 * panel, y = kAlongK ? extent + line : k + line;
      if constexpr (kShares == 1)
        prim::tma_load_2d(dst, map, barrier, x, y);
      else
        prim::tma_load_2d_multicast(dst, map, barrier, x, y, static_cast<u16>((1 << kShares) - 1));
    }
  }

  // The same of panels of 64 lines, `stride` lines from one to the next: boxes of so many.
  HSTU_PRIM static void load_spread(u32 to, const TensorMap* map, u32 barrier, i32 extent, i32 stride, i32 k) {
    static_assert(kAlongK && kShares == 1, "panels apart lie along k");
#pragma unroll
    for (int panel = 0; panel < kExtent / 64; ++panel)
      prim::tma_load_2d(to + panel * 64 * 128, map, barrier, k, extent + panel * stride);
  }

  // Brings the slice to L2.
  HSTU_PRIM static void prefetch(const TensorMap* map, i32 extent, i32 k) {
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel)
      prim::tma_prefetch_2d(map, kAlongK ? k : extent + 64 * panel, kAlongK ? extent : k);
  }

  // Of the 64 lines, or up to 256 of them, from `extent` (a multiple of 64) on.
  HSTU_PRIM static u64 descriptor(u32 slice, int extent) {
    return prim::smem_descriptor(slice + extent * kLineBytes, kAlongK ? 0 : kPanelLines * 128, 8 * kLineBytes,
                                 kLineBytes == 128 ? prim::kSwizzle128 : prim::kSwizzle64);
  }
  // A step along k: 32 bytes of every line, or 16 lines.
  HSTU_PRIM static u64 at_step(u64 descriptor, int step) {
    return prim::advance_descriptor(descriptor, step * (kAlongK ? 32 : 16 * 128));
  }
};

}  // namespace hstu::tile
