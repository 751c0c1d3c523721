// Which tiles of jagged rows a block computes, where every sequence has tiles of its own.
//
// Numbers   Sequence b owns the tile numbers from floor(start(b) / kBlockM) + b on: enough for its rows whatever its
//           start, at most one too many, and known without a sum over the sequences before. A number too many is
//           skipped.
#pragma once
#include "tile/jagged.cuh"
#include "tile/raster.cuh"

namespace hstu::tile {

// Numbers of the first tiles of sequences, see above.
template <int kBlockM, class Offset>
struct TileNumbers {
  HSTU_PRIM explicit TileNumbers(const void* seq_offsets) : sequences(seq_offsets, 0) {}
  HSTU_PRIM i64 start(int sequence) const { return sequences.start(sequence) / kBlockM + sequence; }

  const SequenceStarts<Offset> sequences;
};

// A tile: rows [row, row + kBlockM) of a sequence, of those that it has, and columns from `column` on.
struct JaggedTile {
  int sequence;
  i64 start;  // the sequence's first row
  i32 rows;   // that it has
  i32 row, column;
};

// The tiles of this block, one after the other; to be asked by whole warps, each for itself.
//   Config::kResident  a block keeps its columns, and its rows follow one another, so that it changes from one
//                      sequence's matrix to the next as seldom as can be; the grid is a multiple of the tile columns.
//   otherwise          tiles computed at the same time share rows and matrices through L2.
template <class Config>
class JaggedTileWalk {
 public:
  HSTU_PRIM JaggedTileWalk(const void* seq_offsets, int batch, u32 tiles_m, u32 tiles_n)
      : numbers_(seq_offsets), batch_(batch), tiles_m_(tiles_m), tiles_n_(tiles_n) {
    if constexpr (Config::kResident) {
      const u32 parts = gridDim.x / tiles_n, part = blockIdx.x / tiles_n;
      next_ = static_cast<u32>(static_cast<u64>(tiles_m) * part / parts);
      end_ = static_cast<u32>(static_cast<u64>(tiles_m) * (part + 1) / parts);
    } else {
      next_ = blockIdx.x;
      end_ = tiles_m * tiles_n;
    }
  }

  // Steps to the next tile that has rows; false: there is none.
  HSTU_PRIM bool next(JaggedTile& tile) {
    while (next_ < end_) {
      const TilePosition at = position(next_);
      next_ += Config::kResident ? 1 : gridDim.x;
      find(at.m);
      const i64 row = (at.m - first_number_) * Config::kBlockM;
      if (row >= rows_) continue;
      tile = {sequence_, start_, static_cast<i32>(rows_), static_cast<i32>(row),
              static_cast<i32>(at.n * Config::kBlockN)};
      return true;
    }
    return false;
  }

 private:
  HSTU_PRIM TilePosition position(u32 number) const {
    if constexpr (Config::kResident) return {number, blockIdx.x % tiles_n_};
    return grouped_raster<Config::kGroup>(number, tiles_m_, tiles_n_);
  }

  // The sequence that owns tile number m. Every sequence owns one at least, so that numbers that follow one another
  // are of the same sequence or of the next.
  HSTU_PRIM void find(u32 m) {
    if (m >= first_number_ && m < end_number_) return;
    sequence_ = Config::kResident && sequence_ >= 0 ? sequence_ + 1 : find_sequence_together(numbers_, 0, batch_, m);
    start_ = numbers_.sequences.start(sequence_);
    first_number_ = numbers_.start(sequence_);
    rows_ = numbers_.sequences.start(sequence_ + 1) - start_;
    end_number_ = sequence_ + 1 < batch_ ? numbers_.start(sequence_ + 1) : i64{1} << 32;
  }

  const TileNumbers<Config::kBlockM, typename Config::Offset> numbers_;
  const int batch_;
  const u32 tiles_m_, tiles_n_;
  u32 next_, end_;
  int sequence_ = -1;
  i64 start_, rows_, first_number_ = 0, end_number_ = 0;
};

}  // namespace hstu::tile
