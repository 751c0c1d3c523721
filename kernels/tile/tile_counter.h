// The counters of tile/tile_counter.cuh, shared by host and device: kernels find them through a pointer in their
// argument struct.
#pragma once

namespace hstu {

struct TileCounter {
  unsigned long long holder;  // (grid number + 1 of its launch, or 0) << 8 | launches of this home in spare places
  unsigned next, left;        // tiles scheduled behind the first gridDim.x; blocks that need no more
  unsigned lock, board;       // board: of its launch, as jagged/runs/launch_board.cuh has it
};
static_assert(sizeof(TileCounter) == 24, "host and device disagree about TileCounter");

enum : unsigned { kTileCounters = 1024, kSpareTileCounters = 128 };  // the spare ones lie behind the others

// Boards (jagged/runs/launch_board.cuh) lie behind the counters, in the same memory.
struct LaunchBoard {
  enum : unsigned { kTiles = 16384 };
  unsigned long long entry[kTiles][2];  // tag << 32 | half of a sum
  unsigned last_tag, unused[3];         // of the launch that had it last
};
static_assert(sizeof(LaunchBoard) == 262160, "host and device disagree about LaunchBoard");

struct LaunchBoards {
  unsigned taken, unused[3];       // a bit a board
  enum : unsigned { kCount = 7 };  // with the counters less than 2 MB, of which drivers give whole ones
  LaunchBoard board[kCount];
};

struct LaunchMemory {
  TileCounter counters[kTileCounters + kSpareTileCounters];
  LaunchBoards boards;
};

}  // namespace hstu
