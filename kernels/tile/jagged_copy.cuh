// Copies between a combined jagged tensor and its two parts, for concat_2d_jagged_sm80 and split_2d_jagged_sm80. Bound
// by memory, bits unchanged. Sequence b of the combined tensor is
//
//   right[0 : prefix] | left | right[prefix :]        prefix = min(params.prefix, rows of right)
//
// Work      The side that is read is one run of 16-byte (or narrower) pieces, row after row; a block takes some that
//           follow one another, whatever the length of a row, so that no lane idles: kAccesses a thread at once, in
//           kRounds rounds. Each round's pieces are on their way while the round before is written, and the first
//           round's while the block's sequences are found, where only the address written depends on them.
// Barriers  one __syncthreads: the first warp has found the sequences.
// Config    facts: LeftOffset, RightOffset (i32, i64, or tile::Dense); kAccessBytes (16, 8, 4, 2, 1), kRowAccesses
//           (pieces of a row), kPrefix (params.prefix may be positive).
//           knobs: kThreads, kAccesses (pieces a thread and round), kRounds.
#pragma once
#include "params/jagged_copy.h"
#include "prim/memory.cuh"
#include "tile/jagged.cuh"

namespace hstu::tile {

// A piece of a row: kBytes as they lie in memory, moved by one access.
template <int kBytes>
struct Piece {
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4, "pieces are of 1, 2, 4, 8 or 16 bytes");
  u32 word;
  HSTU_PRIM void load(const void* from) {
    word = kBytes == 4 ? prim::ld_global4(from) : kBytes == 2 ? prim::ld_global2(from) : prim::ld_global1(from);
  }
  HSTU_PRIM void store(void* to) const {
    if constexpr (kBytes == 4) prim::st_global4(to, word);
    if constexpr (kBytes == 2) prim::st_global2(to, word);
    if constexpr (kBytes == 1) prim::st_global1(to, word);
  }
};
template <>
struct Piece<16> {
  prim::Quad quad;
  HSTU_PRIM void load(const void* from) { quad = prim::ld_global(from); }
  HSTU_PRIM void store(void* to) const { prim::st_global(to, quad); }
};
template <>
struct Piece<8> {
  prim::Pair pair;
  HSTU_PRIM void load(const void* from) { pair = prim::ld_global8(from); }
  HSTU_PRIM void store(void* to) const { prim::st_global8(to, pair); }
};

// One part: where its sequences start and its rows lie.
template <class Offset>
struct Part {
  using Starts = SequenceStarts<Offset>;
  HSTU_PRIM explicit Part(const JaggedPart& part) : p(part), starts(part.offsets, part.length) {}

  HSTU_PRIM char* row(i64 row) const { return static_cast<char*>(p.data) + row * p.row_stride; }
  // Row `local` of a sequence that begins at `start`.
  HSTU_PRIM char* row(int sequence, i64 start, i64 local) const {
    if constexpr (Starts::kDense) return static_cast<char*>(p.data) + sequence * p.batch_stride + local * p.row_stride;
    return row(start + local);
  }

  const JaggedPart& p;
  const Starts starts;
};

// A sequence, its starts in both parts, and how many rows it has in each.
struct SequenceParts {
  i64 left_start, right_start, left_rows, right_rows;
  int sequence;

  SequenceParts() = default;
  template <class LeftStarts, class RightStarts>
  HSTU_PRIM SequenceParts(const LeftStarts& left, const RightStarts& right, int sequence)
      : left_start(left.start(sequence)),
        right_start(right.start(sequence)),
        left_rows(left.start(sequence + 1) - left_start),
        right_rows(right.start(sequence + 1) - right_start),
        sequence(sequence) {}
  HSTU_PRIM i64 combined_start() const { return left_start + right_start; }
};

// The pieces of one thread, kThreads apart in its block's run of rows. Access a of round r is number r kAccesses + a.
template <class Config>
struct RowPieces {
  static constexpr int kBlockPieces = Config::kThreads * Config::kAccesses * Config::kRounds;
  static constexpr u32 kRowAccesses = Config::kRowAccesses;

  HSTU_PRIM explicit RowPieces(i64 block) {
    const u64 begin = static_cast<u64>(block) * kBlockPieces;
    first_row = static_cast<i64>(begin / kRowAccesses);
    first_piece = static_cast<u32>(begin % kRowAccesses);
  }
  HSTU_PRIM i64 last_row(i64 rows) const {
    return min(first_row + (first_piece + (kBlockPieces - 1)) / kRowAccesses, rows - 1);
  }
  HSTU_PRIM u32 piece(int access) const { return first_piece + access * Config::kThreads + threadIdx.x; }
  HSTU_PRIM i64 row(int access) const { return first_row + piece(access) / kRowAccesses; }
  HSTU_PRIM i64 byte(int access) const { return i64{piece(access) % kRowAccesses} * Config::kAccessBytes; }

  i64 first_row;
  u32 first_piece;
};

// What a block knows of the sequences of its rows: which they are, and all about the first one, mostly the only one. It
// lies in shared memory: one warp finds it, since the probes of all would keep the load unit busier than the copy does.
class BlockSequences {
 public:
  template <class Config, class Starts, class Left, class Right>
  HSTU_PRIM void find(const Starts& starts, const Left& left, const Right& right, int batch,
                      const RowPieces<Config>& pieces, i64 rows) {
    if (threadIdx.x < 32) {
      const SequenceRange range(starts, batch, pieces.first_row, pieces.last_row(rows));
      const SequenceParts parts(left.starts, right.starts, range.first);
      if (threadIdx.x == 0) {
        range_ = range;
        parts_ = parts;
      }
    }
    __syncthreads();
  }

  // The sequence of a row.
  template <class Starts, class Left, class Right>
  HSTU_PRIM void of(SequenceParts& parts, const Starts& starts, const Left& left, const Right& right, i64 row) const {
    parts = parts_;
    if (range_.first != range_.last)
      parts = SequenceParts(left.starts, right.starts, find_sequence(starts, range_.first, range_.last + 1, row));
  }

 private:
  SequenceRange range_;
  SequenceParts parts_;
};

inline constexpr int kJaggedCopySmemBytes = sizeof(BlockSequences);

// One side of the copy, which knows how rows are found. Copier has load(piece, access) and store(piece, access), which
// do nothing beyond the rows there are, find(), which ends in a barrier, and kReadsAtOnce: load() works before find().
template <class Config, class Copier>
HSTU_PRIM void copy_rounds(Copier& copier) {
  constexpr int kAccesses = Config::kAccesses;
  Piece<Config::kAccessBytes> data[kAccesses];
  if constexpr (!Copier::kReadsAtOnce) copier.find();
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) copier.load(data[a], a);
  if constexpr (Copier::kReadsAtOnce) copier.find();
#pragma unroll 1
  for (int round = 1; round < Config::kRounds; ++round) {
    Piece<Config::kAccessBytes> next[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) copier.load(next[a], round * kAccesses + a);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      copier.store(data[a], (round - 1) * kAccesses + a);
      data[a] = next[a];
    }
  }
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) copier.store(data[a], (Config::kRounds - 1) * kAccesses + a);
}

}  // namespace hstu::tile
