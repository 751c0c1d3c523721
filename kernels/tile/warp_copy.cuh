// A copy of rows of sequences, bound by memory, bits unchanged.
//
// Work      The rows are one run of pieces, accesses of 16 bytes or less. A warp takes some that follow one another,
//           kAccesses a lane, whatever the length of a row, so that no lane idles. They are in flight while the warp
//           finds its rows' sequences, where only the address written depends on them.
// Memory    No shared memory and no barrier: each lane finds the ends of one of the warp's rows, and others ask it.
// Registers 32 at most with one or two accesses, so that an SM holds all the threads it can. Kernels are launched with
//           bounds of one block an SM: without, the compiler spills four accesses to have 32 as well.
#pragma once
#include "tile/jagged.cuh"
#include "tile/piece.cuh"

namespace hstu::tile {

// The pieces of one lane: each 32nd of its warp's, which are kWarpPieces neighbours. Rows are counted from the warp's
// first, which alone may lie far away.
template <int kRowPieces, int kThreads, int kAccesses>
class WarpPieces {
 public:
  enum : int { kWarpPieces = 32 * kAccesses };
  // At most; a row may lie across warps.
  enum : int {
    kRows = kRowPieces % kWarpPieces == 0   ? 1
            : kWarpPieces % kRowPieces == 0 ? kWarpPieces / kRowPieces
                                            : (kWarpPieces + kRowPieces - 2) / kRowPieces + 1
  };

  HSTU_PRIM explicit WarpPieces(u32 block) {
    const u64 begin = u64{block} * (kThreads * kAccesses);
    const u32 piece = static_cast<u32>(begin % kRow) + threadIdx.x / 32 * kWarpPieces;
    first_row = static_cast<i64>(begin / kRow) + piece / kRow;
    first_piece_ = piece % kRow;
  }
  HSTU_PRIM u32 row(int access) const { return kRows == 1 ? 0 : piece(access) / kRow; }
  HSTU_PRIM u32 row_of_first_lane(int access) const { return (first_piece_ + access * 32) / kRow; }
  HSTU_PRIM u32 piece_of_row(int access) const { return kRows == 1 ? piece(access) : piece(access) % kRow; }

  i64 first_row;

 private:
  enum : u32 { kRow = kRowPieces };
  HSTU_PRIM u32 piece(int access) const { return first_piece_ + access * 32 + threadIdx.x % 32; }

  u32 first_piece_;  // of the first row
};

// Where a row comes from and goes to; nowhere: it is not copied.
struct RowAddresses {
  const char* from;
  char* to;
};

// Block `block` of the copy. Copier has
//   kRowPieces, kPieceBytes, kThreads, kAccesses
//   rows(), starts() of the batch() sequences that they belong to, density() of these (find_sequence_near)
//   sequence(index), whose rows are [begin(), end()), and addresses(sequence, row)
//   byte_from(piece), byte_to(piece)  where a piece lies in a row
//   kReadsAtOnce                      source(row) is where a row lies, whatever its sequence
template <class Copier>
class WarpCopy {
 public:
  HSTU_PRIM WarpCopy(const Copier& copier, u32 block) : copier_(copier), pieces_(block) {}

  HSTU_PRIM void run() {
    if (pieces_.first_row >= copier_.rows()) return;
    Pieces data;
    if constexpr (Copier::kReadsAtOnce) load(data);
    find_sequences();
    if constexpr (!Copier::kReadsAtOnce) load(data);
    store(data);
  }

 private:
  enum : int { kAccesses = Copier::kAccesses };
  using Pieces = Piece<Copier::kPieceBytes>[kAccesses];
  using Run = WarpPieces<Copier::kRowPieces, Copier::kThreads, kAccesses>;
  enum : bool { kOneRow = Run::kRows == 1, kLaneARow = Run::kRows <= 32 };

  HSTU_PRIM void find_sequences() {
    const i64 last_row = kOneRow ? pieces_.first_row : min(pieces_.first_row + Run::kRows, copier_.rows()) - 1;
    range_ = SequenceRange::near(copier_.starts(), copier_.batch(), copier_.density(), pieces_.first_row, last_row);
    if (kLaneARow) find_rows(0);
  }
  // Of the warp's rows from `first` on, the ends of one a lane.
  HSTU_PRIM void find_rows(u32 first) {
    first_found_ = first;
    found_ = {nullptr, nullptr};
    const i64 row = pieces_.first_row + (kOneRow ? 0 : first + threadIdx.x % 32);
    if (!kOneRow && row >= copier_.rows()) return;
    const auto sequence = copier_.sequence(kOneRow ? range_.first : range_.of(copier_.starts(), row));
    if (sequence.begin() <= row && row < sequence.end()) found_ = copier_.addresses(sequence, row);
  }
  // Of the row that this lane's piece is of. By all lanes.
  template <class T>
  HSTU_PRIM T* found(T* RowAddresses::*side, int access) {
    if (kOneRow) return found_.*side;
    if (!kLaneARow) find_rows(pieces_.row_of_first_lane(access));
    const u32 lane = pieces_.row(access) - first_found_;
    return reinterpret_cast<T*>(__shfl_sync(prim::kFullWarp, reinterpret_cast<u64>(found_.*side), lane));
  }

  HSTU_PRIM void load(Pieces& data) {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const i64 byte = copier_.byte_from(pieces_.piece_of_row(a));
      if constexpr (Copier::kReadsAtOnce) {
        const i64 row = pieces_.first_row + pieces_.row(a);
        if (kOneRow || row < copier_.rows()) data[a].load(copier_.source(row) + byte);
      } else {
        const char* const from = found(&RowAddresses::from, a);
        if (from) data[a].load(from + byte);
      }
    }
  }
  HSTU_PRIM void store(const Pieces& data) {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      char* const to = found(&RowAddresses::to, a);
      if (to) data[a].store(to + copier_.byte_to(pieces_.piece_of_row(a)));
    }
  }

  const Copier& copier_;
  const Run pieces_;
  SequenceRange range_;
  RowAddresses found_;  // of a row of the warp's, lane 0's being row first_found_
  u32 first_found_;
};

template <class Copier>
HSTU_PRIM void copy_block(const Copier& copier, u32 block) {
  WarpCopy<Copier>(copier, block).run();
}

}  // namespace hstu::tile
