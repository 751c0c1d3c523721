// Tiles and shared memory of attn_bwd_sm90.
#pragma once
#include "attention/attn_bwd_sm90.h"
#include "attention/variant/kv_heads.cuh"
#include "prim/mbarrier.cuh"
#include "tile/tma_ring.cuh"

namespace hstu::attn_bwd90 {

using tile::PipelineState;

// Facts in Config: those of attn_bwd_sm80.cuh. Knobs: kBlockN, kStages, kApart, kKeyParts, kOwnTiles.
template <class Config>
struct Shape {
  enum : int { kConsumers = 2, kThreads = 128 * (kConsumers + 1) };  // warpgroups of 64 own rows, and one that loads
  enum : int {
    kOwn = 64 * kConsumers,
    kWalk = Config::kBlockN,
    kStages = Config::kStages,
    kOwnTiles = Config::kOwnTiles
  };
  // Of the 168 that each of the three warpgroups is launched with; one that asked for more would wait for ever.
  enum : int { kConsumerRegisters = 232, kProducerRegisters = 40 };
  static_assert(kConsumers * kConsumerRegisters + kProducerRegisters <= 3 * 168, "a block has no more");
  // Panels of 64 columns, in rows of 128 bytes.
  enum : int { kColsQk = (Config::kHeadDimQk + 15) / 16 * 16, kColsV = (Config::kHeadDimV + 15) / 16 * 16 };
  enum : int { kPanelsQk = (kColsQk + 63) / 64, kPanelsV = (kColsV + 63) / 64 };
  enum : int { kOwnPanel = kOwn * 128, kWalkPanel = kWalk * 128 };
  enum : int { kOwnVAt = kPanelsQk * kOwnPanel, kOwnBytes = kOwnVAt + kPanelsV * kOwnPanel };
  enum : int { kWalkQkBytes = kPanelsQk * kWalkPanel, kWalkVBytes = kPanelsV * kWalkPanel };
  enum : int { kWalkQkAt = kOwnTiles * kOwnBytes, kWalkVAt = kWalkQkAt + kStages * kWalkQkBytes };
  enum : int { kTileBytes = kWalkVAt + kStages * kWalkVBytes };
  enum : int { kBox = kWalk % 64 == 0 ? 64 : kWalk % 32 == 0 ? 32 : 16 };  // rows of a copy
  static_assert(kOwn % kBox == 0 && kWalk % kBox == 0, "what comes is what a barrier expects");
  static_assert(kWalk / Config::kKeyParts <= 64, "what a column sees is half of a word");

  // Keys' gradients under a scale of each row: each score has its factor.
  enum : bool { kFactors = Config::kRowScale, kNarrow = Config::kHalf };
};

template <class Config>
using Ring = tile::TmaRing<Config::kStages, Shape<Config>::kConsumers>;

enum Kind : int { kKeys, kValues, kQueries, kEnd };  // dk, and dv where that is not apart; dv; dq; no further tile

// What is said of a tile of own rows.
template <class Config>
struct OwnTile {
  typename Config::Mask mask;
  i64 row;    // of the sequence's position 0
  int count;  // positions of the sequence
  Kind kind;
  int seq;
  int head;       // of k and v, or of q
  int own;        // position of the tile's first row
  bool is_alone;  // nothing sees it
};
// And of a tile that it walks over.
enum : u32 { kFullBits = 16, kSeenMask = (1u << kFullBits) - 1 };
struct WalkTile {
  int begin;  // position of its first row
  int head;   // of q
  u32 sight;  // bits of warpgroups: which see something of it, and from kFullBits on, which all
  bool is_last;
};

enum : int { kOwnSlots = 2 };  // descriptions: of the tile under way and the next one

template <class Config>
struct Storage {
  alignas(1024) unsigned char tiles[Shape<Config>::kTileBytes];
  u64 own_full[Config::kOwnTiles], own_empty[Config::kOwnTiles];
  u64 slot_placed[kOwnSlots], slot_full[kOwnSlots], slot_empty[kOwnSlots];  // own[slot], without and with is_alone
  u64 qk_ring[2 * Config::kStages], v_ring[2 * Config::kStages];
  u64 described[Config::kStages];  // walk[stage]
  OwnTile<Config> own[kOwnSlots];
  WalkTile walk[Config::kStages];  // with the rows of q or k
};
enum : int { kExtraBytes = 1024 };
template <class Config>
constexpr int smem_bytes = Shape<Config>::kTileBytes + kExtraBytes;

// By one thread; then a barrier of the block.
template <class Config>
HSTU_PRIM void init(Storage<Config>& storage) {
  using T = Shape<Config>;
  for (int i = 0; i < kOwnSlots; ++i) {
    prim::mbarrier_init(prim::smem_addr(&storage.slot_placed[i]), 1);
    prim::mbarrier_init(prim::smem_addr(&storage.slot_full[i]), 1);
    prim::mbarrier_init(prim::smem_addr(&storage.slot_empty[i]), T::kConsumers * 128 + 2);
  }
  for (int i = 0; i < T::kStages; ++i) prim::mbarrier_init(prim::smem_addr(&storage.described[i]), 1);
  for (int i = 0; i < T::kOwnTiles; ++i) {
    prim::mbarrier_init(prim::smem_addr(&storage.own_full[i]), 1);
    prim::mbarrier_init(prim::smem_addr(&storage.own_empty[i]), T::kConsumers * 4);
  }
  Ring<Config>(prim::smem_addr(storage.qk_ring)).init();
  Ring<Config>(prim::smem_addr(storage.v_ring)).init();
  prim::mbarrier_fence_init();
}

}  // namespace hstu::attn_bwd90
