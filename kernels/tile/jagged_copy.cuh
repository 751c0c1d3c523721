// Copies between a combined jagged tensor and its two parts, for concat_2d_jagged_sm80 and split_2d_jagged_sm80. Bound
// by memory, bits unchanged. Sequence b of the combined tensor is
//
//   right[0 : prefix] | left | right[prefix :]        prefix = min(params.prefix, rows of right)
//
// Work      The side that is read is one run of 16-byte (or narrower) pieces, row after row; a block takes some that
//           follow one another, whatever the length of a row, so that no lane idles: kAccesses a thread at once, in
//           kRounds rounds. Each round's pieces are on their way while the round before is written, and the first
//           round's while the block's rows find their sequences, where only the address written depends on them.
// Memory    A table of the ends of the block's rows, found together; then threads look theirs up.
// Barriers  one __syncthreads: the table is there.
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
  enum : int { kBlockPieces = Config::kThreads * Config::kAccesses * Config::kRounds };
  enum : u32 { kRowAccesses = Config::kRowAccesses };
  // At most; a row may lie across blocks.
  enum : int {
    kRows = kBlockPieces % Config::kRowAccesses == 0
                ? kBlockPieces / Config::kRowAccesses
                : (kBlockPieces + Config::kRowAccesses - 2) / Config::kRowAccesses + 1
  };

  HSTU_PRIM explicit RowPieces(i64 block) {
    const u64 begin = static_cast<u64>(block) * kBlockPieces;
    first_row = static_cast<i64>(begin / kRowAccesses);
    first_piece = static_cast<u32>(begin % kRowAccesses);
  }
  HSTU_PRIM i64 last_row(i64 rows) const {
    return min(first_row + (first_piece + (kBlockPieces - 1)) / kRowAccesses, rows - 1);
  }
  HSTU_PRIM u32 piece(int access) const { return first_piece + access * Config::kThreads + threadIdx.x; }
  HSTU_PRIM int block_row(int access) const { return static_cast<int>(piece(access) / kRowAccesses); }
  HSTU_PRIM i64 row(int access) const { return first_row + block_row(access); }
  HSTU_PRIM i64 byte(int access) const { return i64{piece(access) % kRowAccesses} * Config::kAccessBytes; }

  i64 first_row;
  u32 first_piece;
};

// Where a row comes from and goes to; nowhere: it is not copied.
struct RowEnds {
  const char* from;
  char* to;
};

// The block's rows.
template <class Config>
struct RowTable {
  enum : int { kRows = RowPieces<Config>::kRows };
  RowEnds row[kRows];
};
template <class Config>
constexpr int kJaggedCopySmemBytes = sizeof(RowTable<Config>);

// Of few sequences, few rows: a thread looks at a sequence, whether the block has rows of it. One wait for memory,
// where a search waits for every step, and often for long: what is copied drives the offsets out of the first-level
// cache.
template <class Config, class Copier>
HSTU_PRIM void fill_by_sequence(RowTable<Config>& table, const Copier& copier, i64 first_row) {
  for (int sequence = static_cast<int>(threadIdx.x); sequence < copier.p.batch; sequence += Config::kThreads) {
    const SequenceParts parts = copier.parts(sequence);
    const i64 begin = copier.begin(parts) - first_row,
              end = min(begin + copier.count(parts), copier.rows() - first_row);
    int row = static_cast<int>(max(begin, i64{0}));
    if (begin >= table.kRows) continue;
    for (; row < min(end, i64{table.kRows}); ++row) table.row[row] = copier.ends(parts, first_row + row);
    if (sequence == copier.p.batch - 1)
      for (row = static_cast<int>(max(end, i64{0})); row < table.kRows; ++row) table.row[row] = {nullptr, nullptr};
  }
}
enum : int { kFewRows = 8, kFewSequences = 4 };  // of a thread

// By all threads: the ends of the block's rows. A warp's lanes find 32 rows together.
template <class Config, class Copier>
HSTU_PRIM void fill(RowTable<Config>& table, const Copier& copier, i64 first_row) {
  if (table.kRows <= kFewRows && copier.p.batch <= kFewSequences * Config::kThreads)
    return fill_by_sequence(table, copier, first_row);
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x) - lane; first < table.kRows; first += Config::kThreads) {
    const i64 row = first_row + first, last = min(first_row + min(first + 32, table.kRows), copier.rows()) - 1;
    RowEnds ends = {nullptr, nullptr};
    if (row <= last) {
      const SequenceRange range(copier.starts(), copier.p.batch, row, last);
      const SequenceParts parts = copier.parts(range.of(copier.starts(), min(row + lane, last)));
      if (row + lane < min(copier.begin(parts) + copier.count(parts), last + 1)) ends = copier.ends(parts, row + lane);
    }
    if (first + lane < table.kRows) table.row[first + lane] = ends;
  }
}

// One side of the copy, block `block` of it. Copier has its params p, rows() to be copied, starts() of the sequences
// that they belong to, parts(sequence), of which rows [begin(parts), begin(parts) + count(parts)) are that sequence's,
// ends(parts, row), and kReadsAtOnce: source(row) is where a row lies, whatever its sequence.
template <class Config, class Copier>
class BlockCopy {
 public:
  HSTU_PRIM BlockCopy(const Copier& copier, i64 block, unsigned char* smem)
      : copier_(copier), pieces_(block), table_(*reinterpret_cast<RowTable<Config>*>(smem)) {}

  HSTU_PRIM void run() {
    Pieces data, next;
    if constexpr (Copier::kReadsAtOnce) load(data, 0);
    fill(table_, copier_, pieces_.first_row);
    __syncthreads();
    if constexpr (!Copier::kReadsAtOnce) load(data, 0);
#pragma unroll 1
    for (int round = 1; round < Config::kRounds; ++round) {
      load(next, round);
      store(data, round - 1);
#pragma unroll
      for (int a = 0; a < kAccesses; ++a) data[a] = next[a];
    }
    store(data, Config::kRounds - 1);
  }

 private:
  enum : int { kAccesses = Config::kAccesses };
  using Pieces = Piece<Config::kAccessBytes>[kAccesses];

  HSTU_PRIM void load(Pieces& data, int round) const {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const int access = round * kAccesses + a;
      if constexpr (Copier::kReadsAtOnce) {
        if (pieces_.row(access) < copier_.rows())
          data[a].load(copier_.source(pieces_.row(access)) + pieces_.byte(access));
      } else {
        const RowEnds& ends = table_.row[pieces_.block_row(access)];
        if (ends.to) data[a].load(ends.from + pieces_.byte(access));
      }
    }
  }
  HSTU_PRIM void store(const Pieces& data, int round) const {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const int access = round * kAccesses + a;
      const RowEnds& ends = table_.row[pieces_.block_row(access)];
      if (ends.to) data[a].store(ends.to + pieces_.byte(access));
    }
  }

  const Copier& copier_;
  const RowPieces<Config> pieces_;
  RowTable<Config>& table_;
};

template <class Config, class Copier>
HSTU_PRIM void copy_block(const Copier& copier, i64 block, unsigned char* smem) {
  BlockCopy<Config, Copier>(copier, block, smem).run();
}

}  // namespace hstu::tile
