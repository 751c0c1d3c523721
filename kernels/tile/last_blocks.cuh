// What needs the results of all blocks of a launch, done by those that end last, in the same launch: a block that has
// arrived takes pieces of it, or leaves where others will do.
//
// Nobody waits for a block that may not have started: blocks count themselves when they start, and only where all have
// does one wait for the rest. Else the block that arrives last does every piece. Which block does a piece does not show
// in its result. The counts stand in the launch's counter (tile/tile_counter.cuh), and are zero again at its end.
#pragma once
#include "tile/tile_counter.cuh"

namespace hstu::tile {

// One thread a block of threads: start() when its first loads are under way.
class LastBlocks : public DynamicTileScheduler {
 public:
  using DynamicTileScheduler::DynamicTileScheduler;
  enum : u32 { kNone = 0xffffffffu, kMostBlocks = 0xffffu };

  HSTU_PRIM void start() {
    claim();
    atomicAdd(&at_->next, 1u);
  }
  // After the block's results are written: the first piece for this block, when all blocks have arrived. kNone: it has
  // none and need not wait. The block that arrived last knows that all have.
  HSTU_PRIM u32 arrive(u32 pieces) {
    __threadfence();
    const u32 found = atomicAdd(&at_->next, kArrived), arrived = found / kArrived + 1;
    const bool all_started = found % kArrived == gridDim.x;
    is_last_ = arrived == gridDim.x;
    if (!is_last_ && (!all_started || arrived + pieces < gridDim.x)) return kNone;
    const u32 piece = take_piece();
    if (piece >= pieces) return kNone;
    if (!is_last_) {
      while (*static_cast<volatile u32*>(&at_->next) / kArrived < gridDim.x) __nanosleep(20);
    }
    __threadfence();
    return piece;
  }
  // One that nobody took. Only the block that arrived last asks where there is a block for each.
  HSTU_PRIM u32 next_piece(u32 pieces) const { return is_last_ || pieces >= gridDim.x ? take_piece() : kNone; }

  HSTU_PRIM void leave() const {
    DynamicTileScheduler::leave([&] { prim::exchange(&at_->board, 0u); });
  }

 private:
  enum : u32 { kArrived = 0x10000u };  // next: blocks that arrived, and in its low half those that started

  HSTU_PRIM u32 take_piece() const { return atomicAdd(&at_->board, 1u); }

  bool is_last_ = false;
};

// By all threads, when the block's results are written: do_piece(piece) for each of the block's pieces, with all
// threads. shared: a word in shared memory. A block takes its next piece before it does one, so that the way of the
// count to L2 and back is over by then.
template <class Piece>
HSTU_PRIM void share_among_last(LastBlocks& blocks, u32 pieces, volatile u32* shared, const Piece& do_piece) {
  __syncthreads();
  if (threadIdx.x == 0) *shared = blocks.arrive(pieces);
  __syncthreads();
#pragma unroll 1
  for (u32 piece = *shared; piece < pieces; piece = *shared) {
    u32 next = LastBlocks::kNone;
    if (threadIdx.x == 0) next = blocks.next_piece(pieces);
    do_piece(piece);
    __syncthreads();
    if (threadIdx.x == 0) *shared = next;
    __syncthreads();
  }
  if (threadIdx.x == 0) blocks.leave();
}

}  // namespace hstu::tile
