// The shape of the gradient of attention with the instructions of sm_80: tiles in shared memory, the streams that fill
// them, and the lanes' places in them.
#pragma once
#include "attention/sm80/smem_tile.cuh"
#include "attention/sm80/tile_io.cuh"
#include "attention/variant/kv_heads.cuh"

namespace hstu {

template <class Config>
struct AttnBwdSm80 {
  using Element = typename Config::Element;
  enum : int { kThreads = Config::kWarps * 32, kRowTiles = Config::kRowTiles };
  enum : int { kWarpRows = kRowTiles * 16, kOwn = Config::kWarps * kWarpRows };  // rows of a block of threads
  enum : int { kWalk = Config::kBlockN };                                        // rows of the other side a step
  enum : int { kColsQk = (Config::kHeadDimQk + 15) / 16 * 16, kColsV = (Config::kHeadDimV + 15) / 16 * 16 };
  static_assert(kWalk == 16 || kWalk == 32 || kWalk == 64, "whole k16 steps, and powers of two threads a row");
  static_assert(kWarpRows <= 32, "what a column sees of a warp's keys is one word");

  using OwnQk = tile::SmemTile<kOwn, kColsQk>;
  using OwnV = tile::SmemTile<kOwn, kColsV>;
  using WalkQk = tile::SmemTile<kWalk, kColsQk>;
  using WalkV = tile::SmemTile<kWalk, kColsV>;
  template <class Tile, int kDim>
  using Stream = tile::TileStream<Tile, kDim, kThreads, Config::kVectorIo, Element>;
  using OwnQkStream = Stream<OwnQk, Config::kHeadDimQk>;
  using OwnVStream = Stream<OwnV, Config::kHeadDimV>;
  using WalkQkStream = Stream<WalkQk, Config::kHeadDimQk>;
  using WalkVStream = Stream<WalkV, Config::kHeadDimV>;

  // A stage: rows of q or k, of dout or v, of out beside softmax heads; log-sum-exps, scales and out . dout of rows.
  enum : int { kStageV = WalkQk::kBytes, kStageOut = kStageV + WalkV::kBytes };
  enum : int { kStageStats = kStageOut + (Config::kSoftmax ? WalkV::kBytes : 0) };
  enum : int { kLse = 0, kScale = kWalk, kDelta = 2 * kWalk };  // floats of the statistics
  enum : int { kStageBytes = kStageStats + (3 * kWalk * 4 + 127) / 128 * 128 };
  enum : int { kOwnBytes = OwnQk::kBytes + OwnV::kBytes };
  enum : int { kWordAt = kOwnBytes + Config::kStages * kStageBytes };  // of tile/last_blocks.cuh
  enum : int { kSmemBytes = kWordAt + 128 };

  // Gradients of keys under scales that differ from row to row, or of several kinds of heads: each score has its
  // factor.
  enum : bool {
    kFactors = Config::kRowScale || (Config::kSilu && Config::kSoftmax && variant::heads_per_kv<Config>(0) > 1)
  };
  enum : bool { kNarrow = sizeof(Element) == 2 && Config::kHalf };  // f16: slopes are scaled into its range
};

template <class Config>
constexpr int attn_bwd_sm80_smem_bytes = AttnBwdSm80<Config>::kSmemBytes;

}  // namespace hstu
