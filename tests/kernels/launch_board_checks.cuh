// Device side of launch_board_test.cpp: blocks of a warp that post numbers and write down what lies before theirs.
#pragma once
#include "jagged/runs/launch_board.cuh"

namespace hstu::check {

struct BoardParams {
  LaunchMemory* memory;
  double* before;  // [tiles]: the sum of 1 / (1 + t) over all tiles t before
  u32 tiles;
  u32* found;  // [1]: counted up by each block that has a board
  u32* gate;   // or null: blocks go on when it is not zero
};

__global__ void post_tiles(const BoardParams p) {
  __shared__ tile::OwnBoard own;
  __shared__ tile::Board board;
  __shared__ u32 next;
  __shared__ bool alone;
  tile::BoardTileScheduler scheduler(p.memory);
  own.clear();
  __syncwarp();
  if (threadIdx.x == 0) {
    board = tile::Board(own);
    scheduler.claim();
    next = scheduler.next_tile() - gridDim.x;
    alone = !scheduler.find(board);
    if (!alone) atomicAdd(p.found, 1u);
    if (p.gate)
      while (*static_cast<volatile u32*>(p.gate) == 0) {}
  }
  __syncwarp();
  const bool works = !alone || next == 0;
  tile::SumBefore<double> sum;
  for (u32 tile = next; works && tile < p.tiles; tile = next) {
    const double mine = 1.0 / (1 + tile);
    if (threadIdx.x == 0) board.post(tile, mine);
    __syncwarp();
    const double before = sum.of(board, tile);
    __syncwarp();
    if (threadIdx.x == 0) {
      p.before[tile] = before;
      next = alone ? tile + 1 : scheduler.next_tile() - gridDim.x;
    }
    __syncwarp();
  }
  if (threadIdx.x == 0) scheduler.leave();
}

}  // namespace hstu::check
