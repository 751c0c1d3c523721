// Tiles, shared memory and registers of the sm_90 attention kernels, which share the rooms of this folder:
//   schedule.cuh   which tile of query rows comes next, described when it is wanted     one warp
//   load.cuh       Q, K and V by TMA                                                    one thread
//   warpgroup.cuh  what a consumer knows, fragments of Q; scores.cuh  S = Q K^T, mask, P;
//   softmax.cuh    P of softmax; values.cuh  O += P V; store.cuh  the rows of O          kConsumers warpgroups
//   block_pipeline.cuh, hstu_mainloop.cuh  how a consumer's products and weights overlap over the key blocks of a tile
// A kernel (attn_fwd_sm90.cuh, flash_attn_sm90.cuh) brings its tiles (hstu_tile.cuh, flash_tile.cuh).
//
// In the words of CUTLASS: the loader is the producer warp, tile_place is a PipelineState, a Place of the order is a
// work tile of a dynamic persistent tile scheduler, HstuMainloop the collective mainloop, store.cuh the epilogue.
#pragma once
#include "prim/types.cuh"

namespace hstu::attn90 {

// Keys of FP8 between promotions of their sums; 0: none.
template <class Config, int kElementBytes>
constexpr int promote_keys = 0;
template <class Config>
constexpr int promote_keys<Config, 1> = Config::kPromoteKeys;

// Intervals of keys a row of a mask given as data; a Config that says nothing has none.
template <class Config>
HSTU_PRIM constexpr auto intervals(int) -> decltype(Config::kIntervals + 0) {
  return Config::kIntervals;
}
template <class Config>
HSTU_PRIM constexpr int intervals(long) {
  return 0;
}

// Whether a relative bias of the upper range's keys, which begin anywhere, is left to those who add it, not loaded with
// them.
template <class Tile>
HSTU_PRIM constexpr auto has_loose_bias(int) -> decltype(Tile::kLooseBias + 0) {
  return Tile::kLooseBias;
}
template <class Tile>
HSTU_PRIM constexpr int has_loose_bias(long) {
  return 0;
}

// Problem facts in Config: Element, Offset, Target, kHeadDimQk, kHeadDimV, kAttnScale, kBias and those of the mask.
// Knobs: kConsumers, kBlockN, kStages, kQSteps (k steps of Q, of 32 bytes, that stay in registers), kBlocks (blocks of
// threads an SM).
template <class Config>
struct Shape {
  enum : int { kConsumers = Config::kConsumers };
  enum : int { kThreads = 128 * (kConsumers + 1) };
  enum : int { kBlockM = 64 * kConsumers, kBlockN = Config::kBlockN };
  // Panels have rows of 128 bytes, a k step of a product 32.
  enum : int { kElementBytes = sizeof(typename Config::Element) };
  enum : int { kPanelColumns = 128 / kElementBytes, kStepKeys = 32 / kElementBytes };
  enum : int { kPanelsQk = (Config::kHeadDimQk + kPanelColumns - 1) / kPanelColumns };
  enum : int { kPanelsV = (Config::kHeadDimV + kPanelColumns - 1) / kPanelColumns };
  enum : int { kStepsQk = (Config::kHeadDimQk * kElementBytes + 31) / 32 };
  enum : int { kColsV = (Config::kHeadDimV + 15) / 16 * 16 };
  // V of FP8 must lie transposed for the tensor cores: [kColsV rows][kBlockN keys], in panels of 128 keys.
  enum : bool { kTransposesV = kElementBytes == 1 };
  enum : int { kTransposedStages = !kTransposesV ? 0 : kColsV <= 128 && kBlockN <= 128 ? 3 : 2 };
  enum : int { kTransposers = kTransposesV ? 2 : 0 };
  enum : int { kTransposedBytes = kTransposesV ? (kBlockN + 127) / 128 * kColsV * 128 : 0 };
  enum : int { kMaskedChunkN = kBlockN % 64 == 0 ? 64 : kTransposesV ? 32 : kBlockN % 48 == 0 ? 48 : kBlockN };
  enum : int { kQSteps = Config::kQSteps < kStepsQk ? Config::kQSteps : kStepsQk };
  enum : int { kQWords = kQSteps > 0 ? kQSteps : 1 };
  enum : int { kQBytes = kPanelsQk * kBlockM * 128 };
  enum : int { kKBytes = kPanelsQk * kBlockN * 128, kVBytes = kPanelsV * kBlockN * 128 };
  // Where a warp stages its 16 rows of O, boxes of 64 columns round-robin, or adds up its sums of FP8.
  enum : int { kOPanels = (Config::kHeadDimV + 63) / 64, kOBoxes = kOPanels < 2 ? kOPanels : 2 };
  enum : int { kSumBytes = promote_keys<Config, kElementBytes> > 0 ? kColsV / 2 * 128 : 0 };
  enum : int { kOWarpBytes = kSumBytes > kOBoxes * 2048 ? kSumBytes : kOBoxes * 2048 };
  enum : int { kOBytes = kConsumers * 4 * kOWarpBytes };
  enum : int { kKOffset = kQBytes };
  enum : int { kVOffset = kKOffset + Config::kStages * kKBytes };
  // A relative bias of the tile's rows and a stage's keys, in panels of 64 columns.
  enum : int { kBiasBytes = Config::kBias ? (kBlockN + 63) / 64 * kBlockM * 128 : 0 };
  enum : int { kBiasOffset = kVOffset + Config::kStages * kVBytes };
  enum : int { kTransposedOffset = kBiasOffset + Config::kStages * kBiasBytes };
  enum : int { kOOffset = kTransposedOffset + kTransposedStages * kTransposedBytes };
  enum : int { kTileBytes = kOOffset + kOBytes };
  // Registers a thread once the roles are known; together no more than the launch reserves.
  enum : int { kLaunchRegisters = 65536 / (kThreads * Config::kBlocks) / 8 * 8 };
  // One warpgroup alone on an SM leaves plenty: all masks at once want more than 40. So do those who
  // transpose ahead; longer steps want them for their products.
  enum : bool {
    kRoomyProducer = kConsumers == 3 || kThreads * Config::kBlocks == 256 || (kTransposesV && kBlockN <= 128)
  };
  enum : int { kProducerRegisters = kRoomyProducer ? 56 : 40 };
  enum : int { kSparedRegisters = (kLaunchRegisters * (kConsumers + 1) - kProducerRegisters) / kConsumers / 8 * 8 };
  enum : int { kConsumerRegisters = kSparedRegisters < 232 ? kSparedRegisters : 232 };
  static_assert(kBlockN % kStepKeys == 0, "a key block is whole k steps of P V");
};

}  // namespace hstu::attn90
