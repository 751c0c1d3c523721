// A board on which the blocks of one launch post sums of their tiles for each other, and what a block makes of them:
//
//   tile t's sum, posted when its values are there ──► every block: lane t % 32 adds it to what it has ──► all lanes'
//
// So what lies before a tile waits for sums alone, never for what another block found before one of its own. What is
// added up, and in which order, depends on t alone: sums of floating-point numbers are the same in each run.
//
// Tiles come in order from the launch's counter (tile/tile_counter.cuh), so a block waits for tiles alone whose
// blocks run already. A launch has a board from when its first block asks until it gives its counter back. Where all
// boards are taken it has none: the block with the first tile does all of them then, on a board in shared memory, where
// few entries are enough. Entries need no clearing: half of each word is the tag of the launch that wrote it, counted
// up a launch of the board.
#pragma once
#include "tile/tile_counter.cuh"

namespace hstu::tile {

// Of a block that does all tiles, and posts fewer than kTiles of them ahead.
struct OwnBoard {
  enum : u32 { kTiles = 64 };
  HSTU_PRIM void clear() {  // all threads, ahead of a barrier
    for (u32 i = threadIdx.x; i < kTiles; i += blockDim.x) entry[i][0] = entry[i][1] = 0;
  }
  u64 entry[kTiles][2];
};

// Sum: u32, u64 or double; numbers of 4 bytes have the first word of an entry alone.
class Board {
 public:
  template <class Sum>
  struct Entry {
    enum : int { kWords = sizeof(Sum) / 4 };
    u64 word[kWords];
  };

  Board() = default;
  HSTU_PRIM Board(LaunchBoard* board, u32 tag) : entry_(board->entry), entries_(LaunchBoard::kTiles), tag_(tag) {}
  HSTU_PRIM explicit Board(OwnBoard& own) : entry_(own.entry), entries_(OwnBoard::kTiles), tag_(1) {}

  // One thread: posts the sum of a tile.
  template <class Sum>
  HSTU_PRIM void post(u32 tile, Sum sum) const {
    const u64 bits = bits_of(sum);
#pragma unroll
    for (int i = 0; i < Entry<Sum>::kWords; ++i) at(tile)[i] = u64{tag_of(tile)} << 32 | (bits >> 32 * i & 0xffffffffu);
  }
  template <class Sum>
  HSTU_PRIM Entry<Sum> peek(u32 tile) const {
    Entry<Sum> entry;
#pragma unroll
    for (int i = 0; i < Entry<Sum>::kWords; ++i) entry.word[i] = at(tile)[i];
    return entry;
  }
  template <class Sum>
  HSTU_PRIM bool is_posted(u32 tile, const Entry<Sum>& entry) const {
    bool is = true;
#pragma unroll
    for (int i = 0; i < Entry<Sum>::kWords; ++i) is = is && static_cast<u32>(entry.word[i] >> 32) == tag_of(tile);
    return is;
  }
  template <class Sum>
  HSTU_PRIM static Sum sum_of(const Entry<Sum>& entry) {
    u64 bits = 0;
#pragma unroll
    for (int i = 0; i < Entry<Sum>::kWords; ++i) bits |= (entry.word[i] & 0xffffffffu) << 32 * i;
    Sum sum;
    set(sum, bits);
    return sum;
  }

 private:
  HSTU_PRIM volatile u64* at(u32 tile) const { return entry_[tile & (entries_ - 1)]; }
  // A block's own entries are used again and again.
  HSTU_PRIM u32 tag_of(u32 tile) const { return tag_ + tile / OwnBoard::kTiles * (entries_ == OwnBoard::kTiles); }
  HSTU_PRIM static u64 bits_of(u32 sum) { return sum; }
  HSTU_PRIM static u64 bits_of(u64 sum) { return sum; }
  HSTU_PRIM static u64 bits_of(double sum) { return static_cast<u64>(__double_as_longlong(sum)); }
  HSTU_PRIM static void set(u32& sum, u64 bits) { sum = static_cast<u32>(bits); }
  HSTU_PRIM static void set(u64& sum, u64 bits) { sum = bits; }
  HSTU_PRIM static void set(double& sum, u64 bits) { sum = __longlong_as_double(static_cast<i64>(bits)); }

  u64 (*entry_)[2];
  u32 entries_, tag_;  // how many, a power of two
};

// What lies before a block's tiles, asked for in order by a whole warp.
template <class Sum>
class SumBefore {
 public:
  HSTU_PRIM Sum of(const Board& board, u32 tile) {
    const u32 lane = prim::lane_id();
#pragma unroll 1
    for (u32 row = upto_ / 32; row * 32 < tile; row += kRows) {
      Board::Entry<Sum> entry[kRows] = {};  // of no launch
      bool asks = true;
      while (__any_sync(prim::kFullWarp, asks)) {  // for all that are missing at once
        asks = false;
#pragma unroll
        for (u32 i = 0; i < kRows; ++i) {
          const u32 at = (row + i) * 32 + lane;
          if (!is_new(at, tile) || board.is_posted(at, entry[i])) continue;
          entry[i] = board.peek<Sum>(at);
          asks = true;
        }
      }
#pragma unroll
      for (u32 i = 0; i < kRows; ++i)
        if (is_new((row + i) * 32 + lane, tile)) of_lane_ += Board::sum_of(entry[i]);
    }
    upto_ = tile;
    Sum sum = of_lane_;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(prim::kFullWarp, sum, offset);
    return sum;
  }

 private:
  enum : u32 { kRows = 8 };  // of 32 tiles: about as many as are new where each SM has a block
  HSTU_PRIM bool is_new(u32 at, u32 tile) const { return at >= upto_ && at < tile; }

  Sum of_lane_ = 0;  // of tiles lane, lane + 32, ...
  u32 upto_ = 0;
};

// The counter and the board of a launch. One thread a block of threads, as DynamicTileScheduler.
class BoardTileScheduler : public DynamicTileScheduler {
 public:
  HSTU_PRIM explicit BoardTileScheduler(LaunchMemory* memory)
      : DynamicTileScheduler(memory->counters), boards_(&memory->boards) {}
  // Any thread, ahead of find(): brings to L2 what that reads.
  HSTU_PRIM void prefetch() const {
    prim::prefetch_l2(&boards_->taken);
    prim::prefetch_l2(&boards_->board[0].last_tag);
  }

  // After claim(). False: there is none for this launch; all its blocks are told the same.
  HSTU_PRIM bool find(Board& board) const {
    u32 found = prim::compare_and_swap_acquire(&at_->board, 0u, kLooking);
    if (found == 0) {
      found = take_free();
      __threadfence();
      prim::exchange(&at_->board, found);
    }
    while (found == kLooking) found = *static_cast<volatile u32*>(&at_->board);
    __threadfence();
    if (found == kNone) return false;
    LaunchBoard* const of_launch = &boards_->board[found - 1];
    board = Board(of_launch, *static_cast<volatile u32*>(&of_launch->last_tag) + 1);
    return true;
  }
  // After the last sum of the block is posted, and what lies before its last tile is found.
  HSTU_PRIM void leave() const {
    __threadfence();
    DynamicTileScheduler::leave([&] {
      const u32 found = prim::exchange(&at_->board, 0u);
      if (found == 0 || found == kNone) return;
      give_back(found - 1);
    });
  }

 private:
  enum : u32 { kLooking = 0xffffffffu, kNone = 0xfffffffeu };

  HSTU_PRIM u32 take_free() const {
    u32 taken = *static_cast<volatile u32*>(&boards_->taken);
    while (taken != (1u << LaunchBoards::kCount) - 1) {
      const u32 bit = ~taken & (taken + 1);  // the lowest that is free
      const u32 found = prim::compare_and_swap_acquire(&boards_->taken, taken, taken | bit);
      if (found == taken) return __ffs(static_cast<int>(bit));
      taken = found;
    }
    return kNone;
  }
  HSTU_PRIM void give_back(u32 index) const {
    LaunchBoard* const board = &boards_->board[index];
    volatile u32* const last_tag = &board->last_tag;
    const u32 tag = *last_tag + 1;
    if (tag == 0xffffffffu) {  // tags begin anew, and so must the entries
#pragma unroll 1
      for (u32 i = 0; i < LaunchBoard::kTiles * 2; ++i) *static_cast<volatile u64*>(&board->entry[i / 2][i % 2]) = 0;
    }
    *last_tag = tag == 0xffffffffu ? 0 : tag;
    __threadfence();
    atomicAdd(&boards_->taken, 0u - (1u << index));
  }

  LaunchBoards* boards_;
};

}  // namespace hstu::tile
