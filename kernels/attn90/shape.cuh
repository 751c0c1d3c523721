// Tiles, shared memory and registers of the sm_90 attention kernels, which share the rooms of this folder:
//   schedule.cuh   which tile of query rows comes next, described a step ahead          one thread
//   load.cuh       Q, K and V by TMA                                                    one thread
//   warpgroup.cuh  what a consumer knows, fragments of Q; scores.cuh  S = Q K^T, mask, P;
//   softmax.cuh    P of softmax; values.cuh  O += P V; store.cuh  the rows of O          kConsumers warpgroups
// A kernel (attn_fwd_sm90.cuh, flash_attn_sm90.cuh) brings its tiles (hstu_tile.cuh, flash_tile.cuh) and says how the
// steps of a consumer follow each other.
#pragma once
#include "prim/types.cuh"

namespace hstu::attn90 {

// Keys of FP8 between promotions of their sums; 0: none.
template <class Config, int kElementBytes>
constexpr int promote_keys = 0;
template <class Config>
constexpr int promote_keys<Config, 1> = Config::kPromoteKeys;

// Problem facts in Config: Element, Offset, Target, kHeadDimQk, kHeadDimV, kAttnScale and those of the mask.
// Knobs: kConsumers, kBlockN, kStages, kQSteps (k steps of Q, of 32 bytes, that stay in registers).
template <class Config>
struct Shape {
  static constexpr int kConsumers = Config::kConsumers;
  static constexpr int kThreads = 128 * (kConsumers + 1);
  static constexpr int kBlockM = 64 * kConsumers, kBlockN = Config::kBlockN;
  // Panels have rows of 128 bytes, a k step of a product 32.
  static constexpr int kElementBytes = sizeof(typename Config::Element);
  static constexpr int kPanelColumns = 128 / kElementBytes, kStepKeys = 32 / kElementBytes;
  static constexpr int kPanelsQk = (Config::kHeadDimQk + kPanelColumns - 1) / kPanelColumns;
  static constexpr int kPanelsV = (Config::kHeadDimV + kPanelColumns - 1) / kPanelColumns;
  static constexpr int kStepsQk = (Config::kHeadDimQk * kElementBytes + 31) / 32;
  static constexpr int kColsV = (Config::kHeadDimV + 15) / 16 * 16;
  // V of FP8 must lie transposed for the tensor cores: [kColsV rows][kBlockN keys], in panels of 128 keys.
  static constexpr bool kTransposesV = kElementBytes == 1;
  static constexpr int kTransposedStages = kTransposesV ? 2 : 0, kTransposers = kTransposesV ? 2 : 0;
  static constexpr int kTransposedBytes = kTransposesV ? (kBlockN + 127) / 128 * kColsV * 128 : 0;
  static constexpr int kMaskedChunkN = kBlockN % 64 == 0 ? 64 : kTransposesV ? 32 : kBlockN % 48 == 0 ? 48 : kBlockN;
  static constexpr int kQSteps = Config::kQSteps < kStepsQk ? Config::kQSteps : kStepsQk;
  static constexpr int kQWords = kQSteps > 0 ? kQSteps : 1;
  static constexpr int kQBytes = kPanelsQk * kBlockM * 128;
  static constexpr int kKBytes = kPanelsQk * kBlockN * 128, kVBytes = kPanelsV * kBlockN * 128;
  // Where a warp stages its 16 rows of O, 64 columns at a time, or adds up its sums of FP8.
  static constexpr int kSumBytes = promote_keys<Config, kElementBytes> > 0 ? kColsV / 2 * 128 : 0;
  static constexpr int kOWarpBytes = kSumBytes > 2048 ? kSumBytes : 2048;
  static constexpr int kOBytes = kConsumers * 4 * kOWarpBytes;
  static constexpr int kKOffset = kQBytes;
  static constexpr int kVOffset = kKOffset + Config::kStages * kKBytes;
  static constexpr int kTransposedOffset = kVOffset + Config::kStages * kVBytes;
  static constexpr int kOOffset = kTransposedOffset + kTransposedStages * kTransposedBytes;
  static constexpr int kTileBytes = kOOffset + kOBytes;
  // Registers a thread once the roles are known; together no more than the launch reserves.
  static constexpr int kProducerRegisters = kConsumers == 3 ? 56 : 40;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 152 : 232;
  static_assert(kBlockN % kStepKeys == 0, "a key block is whole k steps of P V");
};

}  // namespace hstu::attn90
