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

// Problem facts in Config: Element, Offset, Target, kHeadDimQk, kHeadDimV, kAttnScale and those of the mask.
// Knobs: kConsumers, kBlockN, kStages, kQSteps (k16 steps of Q that stay in registers).
template <class Config>
struct Shape {
  static constexpr int kConsumers = Config::kConsumers;
  static constexpr int kThreads = 128 * (kConsumers + 1);
  static constexpr int kBlockM = 64 * kConsumers, kBlockN = Config::kBlockN;
  static constexpr int kPanelsQk = (Config::kHeadDimQk + 63) / 64, kPanelsV = (Config::kHeadDimV + 63) / 64;
  static constexpr int kStepsQk = (Config::kHeadDimQk + 15) / 16;
  static constexpr int kColsV = (Config::kHeadDimV + 15) / 16 * 16;
  static constexpr int kMaskedChunkN = kBlockN % 64 == 0 ? 64 : kBlockN % 48 == 0 ? 48 : kBlockN;
  static constexpr int kQSteps = Config::kQSteps < kStepsQk ? Config::kQSteps : kStepsQk;
  static constexpr int kQWords = kQSteps > 0 ? kQSteps : 1;
  // Panels are 64 columns wide, a row of them 128 bytes.
  static constexpr int kQBytes = kPanelsQk * kBlockM * 128;
  static constexpr int kKBytes = kPanelsQk * kBlockN * 128, kVBytes = kPanelsV * kBlockN * 128;
  static constexpr int kOBytes = kBlockM * 128;
  static constexpr int kKOffset = kQBytes;
  static constexpr int kVOffset = kKOffset + Config::kStages * kKBytes;
  static constexpr int kOOffset = kVOffset + Config::kStages * kVBytes;
  static constexpr int kTileBytes = kOOffset + kOBytes;
  // Registers a thread once the roles are known; together no more than the launch reserves.
  static constexpr int kProducerRegisters = kConsumers == 3 ? 56 : 40;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 152 : 232;
  static_assert(kBlockN % 16 == 0, "a key block is whole k16 steps of P V");
};

}  // namespace hstu::attn90
