// A board on which the blocks of one launch post sums of their tiles for each other, in groups of 32, so that a block
// has the sum of all tiles before its own by reading at most three entries a lane:
//
//   tile t's sum ──► the last of a group posts the group's ──► the last of 32 groups posts theirs
//
// What is added up, and in which order, depends on t alone: sums of floating-point numbers are the same in each run.
//
// Tiles are handed out in order by the launch's counter (tile/tile_counter.cuh), so a block waits for tiles alone whose
// blocks run already. A launch has a board from when its first block asks until it gives its counter back. Where all
// boards are taken it has none: the block with the first tile does all of them then, on a board in shared memory, where
// few entries of a kind are enough. Entries need no clearing: half of each word is the tag of the launch that wrote it,
// counted up a launch of the board.
#pragma once
#include "tile/tile_counter.cuh"

namespace hstu::tile {

// Of a block that does all tiles, and posts some ahead.
struct OwnBoard {
  enum : u32 { kTiles = 64, kGroups = 32, kTop = LaunchBoard::kTiles / 1024 };
  u64 entry[kTiles + kGroups + kTop][2];
};

class Board {
 public:
  Board() = default;
  HSTU_PRIM Board(LaunchBoard* board, u32 tag)
      : entry_(board->entry), tiles_(LaunchBoard::kTiles), groups_(LaunchBoard::kTiles / 32), tag_(tag) {}
  HSTU_PRIM explicit Board(OwnBoard& own)
      : entry_(own.entry), tiles_(OwnBoard::kTiles), groups_(OwnBoard::kGroups), tag_(1) {}

  // One thread: posts the sum of a tile. Sum: u32, u64 or double.
  template <class Sum>
  HSTU_PRIM void post(u32 tile, Sum sum) const {
    write(at(tile, 0, tiles_), sum);
  }
  // By a whole warp, of tiles in the order in which they were posted: the sum of all tiles before this one. Posts the
  // sums of those that end with it.
  template <class Sum>
  HSTU_PRIM Sum before(u32 tile, Sum sum) const {
    const u32 lane = prim::lane_id(), in_group = tile % 32, group = tile / 32, in_top = group % 32, top = group / 32;
    const u32 tile_at = at(tile - in_group + lane, 0, tiles_), group_at = at(group - in_top + lane, tiles_, groups_);
    const u32 top_at = tiles_ + groups_ + lane;
    Entry tile_entry, group_entry, top_entry;  // all on their way at once
    if (lane < in_group) tile_entry = peek(tile_at);
    if (lane < in_top) group_entry = peek(group_at);
    if (lane < top) top_entry = peek(top_at);
    const Sum tiles = lane < in_group ? settled<Sum>(tile_entry, tile_at) : Sum{0};
    Sum of_group = 0;
    if (in_group == 31) {
      of_group = of_lanes(lane == 31 ? sum : tiles);
      if (lane == 0) write(at(group, tiles_, groups_), of_group);
    }
    const Sum groups = lane < in_top ? settled<Sum>(group_entry, group_at) : Sum{0};
    if (in_group == 31 && in_top == 31) {
      const Sum of_top = of_lanes(lane == 31 ? of_group : groups);
      if (lane == 0) write(tiles_ + groups_ + top, of_top);
    }
    const Sum tops = lane < top ? settled<Sum>(top_entry, top_at) : Sum{0};
    return of_lanes(tops) + of_lanes(groups) + of_lanes(tiles);
  }

 private:
  struct Entry {
    u64 low, high;
  };

  HSTU_PRIM static u32 at(u32 index, u32 first, u32 count) { return first + (index & (count - 1)); }
  HSTU_PRIM Entry peek(u32 at) const {
    volatile u64* const word = entry_[at];
    return {word[0], word[1]};
  }
  template <class Sum>
  HSTU_PRIM Sum settled(Entry entry, u32 at) const {
    while (static_cast<u32>(entry.low >> 32) != tag_ || static_cast<u32>(entry.high >> 32) != tag_) entry = peek(at);
    Sum sum;
    set(sum, (entry.low & 0xffffffffu) | entry.high << 32);
    return sum;
  }
  HSTU_PRIM static void set(u32& sum, u64 bits) { sum = static_cast<u32>(bits); }
  HSTU_PRIM static void set(u64& sum, u64 bits) { sum = bits; }
  HSTU_PRIM static void set(double& sum, u64 bits) { sum = __longlong_as_double(static_cast<i64>(bits)); }
  HSTU_PRIM void write(u32 at, u32 sum) const { write(at, u64{sum}); }
  HSTU_PRIM void write(u32 at, double sum) const { write(at, static_cast<u64>(__double_as_longlong(sum))); }
  HSTU_PRIM void write(u32 at, u64 bits) const {
    volatile u64* const word = entry_[at];
    word[0] = u64{tag_} << 32 | (bits & 0xffffffffu);
    word[1] = u64{tag_} << 32 | bits >> 32;
  }
  template <class Sum>
  HSTU_PRIM static Sum of_lanes(Sum x) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(prim::kFullWarp, x, offset);
    return x;
  }

  u64 (*entry_)[2];
  u32 tiles_, groups_, tag_;  // entries of a kind, powers of two
};

// The counter and the board of a launch. One thread a block of threads, as TileTaker.
class BoardTaker : public TileTaker {
 public:
  HSTU_PRIM explicit BoardTaker(LaunchMemory* memory) : TileTaker(memory->counters), boards_(&memory->boards) {}

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
  // After the block's last before().
  HSTU_PRIM void leave() const {
    __threadfence();
    TileTaker::leave([&] {
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
      for (u32 i = 0; i < LaunchBoard::kEntries * 2; ++i) *static_cast<volatile u64*>(&board->entry[i / 2][i % 2]) = 0;
    }
    *last_tag = tag == 0xffffffffu ? 0 : tag;
    __threadfence();
    atomicAdd(&boards_->taken, 0u - (1u << index));
  }

  LaunchBoards* const boards_;
};

}  // namespace hstu::tile
