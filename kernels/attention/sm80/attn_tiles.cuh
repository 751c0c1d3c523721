// The shape of the attention kernels of the sm_80 generation: tiles in shared memory, the streams that fill them and
// how a warp's part divides into products.
#pragma once
#include "attention/sm80/smem_tile.cuh"
#include "attention/sm80/tile_io.cuh"

namespace hstu {

template <class Config>
struct AttnFwdSm80 {
  enum : int { kThreads = Config::kWarps * 32 };
  enum : int { kBlockM = Config::kWarps * Config::kRowsPerWarp };
  enum : int { kBlockN = Config::kBlockN };
  enum : int { kColsQk = (Config::kHeadDimQk + 15) / 16 * 16 };
  enum : int { kColsV = (Config::kHeadDimV + 15) / 16 * 16 };

  using QTile = tile::SmemTile<kBlockM, kColsQk>;
  using KTile = tile::SmemTile<kBlockN, kColsQk>;
  using VTile = tile::SmemTile<kBlockN, kColsV>;
  using OTile = tile::SmemTile<kBlockM, kColsV>;
  enum : int { kStageBytes = KTile::kBytes + VTile::kBytes };
  enum : int { kRingBytes = QTile::kBytes + Config::kStages * kStageBytes };
  enum : int { kTileBytes = kRingBytes > OTile::kBytes ? kRingBytes : OTile::kBytes };

  using Element = typename Config::Element;
  using QStream = tile::TileStream<QTile, Config::kHeadDimQk, kThreads, Config::kVectorIo, Element>;
  using KStream = tile::TileStream<KTile, Config::kHeadDimQk, kThreads, Config::kVectorIo, Element>;
  using VStream = tile::TileStream<VTile, Config::kHeadDimV, kThreads, Config::kVectorIo, Element>;

  enum : int { kRowTiles = Config::kRowsPerWarp / 16 };  // m16 tiles of a warp
  enum : int { kStepsQk = kColsQk / 16 };                // k16 steps of Q K^T
  enum : int { kQSteps = Config::kQSteps < kStepsQk ? Config::kQSteps : kStepsQk };
  enum : int { kStepsPv = kBlockN / 16 };  // k16 steps of P V
  // Masked blocks are few and go through in narrower chunks: what a warp does not see is skipped in finer grains, and
  // mask arithmetic needs registers.
  enum : int { kMaskedChunkN = kBlockN % 32 == 0 && kRowTiles * (kColsV / 2 + kQSteps * 4 + 16) <= 200 ? 32 : 16 };

  static_assert(Config::kRowsPerWarp % 16 == 0, "a warp owns whole m16 tiles");
  static_assert(kBlockN % 16 == 0, "a key block is whole k16 steps of P V");
  enum : int { kPrefetchBlocks = Config::kStages == 2 ? 1 : 2 };  // how far copies run before products
  static_assert(Config::kStages >= 2, "the next block loads while this one computes");
};

// Accumulators of S for kKeys keys, and their P as A operands.
template <int kRowTiles, int kKeys>
struct Scores {
  enum : int { kStepPairs = kRowTiles * 4 };  // words of P in a k16 step
  float s[kRowTiles][kKeys / 8][4];
  u32 p[kRowTiles][kKeys / 16][4];
};
template <class Config, int kKeys>
using ScoresOf = Scores<AttnFwdSm80<Config>::kRowTiles, kKeys>;

}  // namespace hstu
