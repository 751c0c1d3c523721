// Copies of vectors of small elements that come from memory in runs, each at its own distance from where it goes: what
// is written lies in pieces of 16 bytes, what is read may begin between them.
//
// Work      A warp writes kAccesses x 512 bytes that follow one another. Mostly they are of one run: then a lane reads
//           the two pieces that its own lies across and joins them, the second from L1. Where a run ends, each lane
//           looks for its own, piece after piece for registers, and reads elements one by one where a piece has
//           several.
// Memory    What is read lies in the run's own memory, to the byte: 16 bytes around an element are read only where all
//           of them are the run's.
#pragma once
#include "tile/jagged.cuh"
#include "tile/piece.cuh"

namespace hstu::tile {

// 16 bytes that begin `shift` bytes into `low` and go on in `high`. Elements have kBytes; shift is a multiple of that.
template <int kBytes>
HSTU_PRIM prim::Quad joined(const prim::Quad& low, const prim::Quad& high, u32 shift) {
  u32 word[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                 high.word[0], high.word[1], high.word[2], high.word[3]};
#pragma unroll
  for (int i = 0; i < 6; ++i) word[i] = shift & 8 ? word[i + 2] : word[i];
  if constexpr (kBytes < 8) {
#pragma unroll
    for (int i = 0; i < 5; ++i) word[i] = shift & 4 ? word[i + 1] : word[i];
  }
  if constexpr (kBytes < 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], shift * 8);  // modulo 32
  }
  return {{word[0], word[1], word[2], word[3]}};
}

// By a whole warp: kAccesses x 512 bytes to `to`, a multiple of 16, from `from`, wherever that is. Reads up to 15 bytes
// before and behind.
template <int kBytes, int kAccesses>
HSTU_PRIM void copy_span(char* to, u64 from) {
  const u32 shift = from % 16, lane_byte = threadIdx.x % 32 * 16;
  const char* const read = reinterpret_cast<const char*>(from - shift) + lane_byte;
  prim::Quad data[kAccesses];
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) data[a] = prim::ld_global(read + a * 512);
  if (shift != 0) {
    prim::Quad next[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) next[a] = prim::ld_global(read + a * 512 + 16);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) data[a] = joined<kBytes>(data[a], next[a], shift);
  }
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) prim::st_global(to + lane_byte + a * 512, data[a]);
}

// Runs of a block's rows, which are elements here, in order: run r begins at row start(r) and ends where the next one
// begins, and row i of it comes from address from[r] + i * element. Rows count from the block's first; starts far away
// are cut.
template <int kCount>
struct RunTable {
  u64 from[kCount];
  i32 starts[kCount + 1];

  HSTU_PRIM i32 start(int run) const { return starts[run]; }
  HSTU_PRIM static i32 cut(i64 row) { return static_cast<i32>(min(max(row, i64{-(1 << 30)}), i64{1 << 30})); }
  HSTU_PRIM void set(int run, i64 start, u64 from_here) {
    starts[run] = cut(start);
    from[run] = from_here;
  }
};

template <int kBytes, int kAccesses, int kCount>
class RunCopier {
 public:
  enum : int { kPieceRows = 16 / kBytes, kPartRows = 32 * kPieceRows, kSpanRows = kAccesses * kPartRows };

  // Rows [begin, end), of runs of the table.
  HSTU_PRIM RunCopier(const RunTable<kCount>& runs, i32 begin, i32 end) : runs_(runs), begin_(begin), end_(end) {}

  // Those in [row, row + kSpanRows), by a whole warp: to `out`, where row 0 lies, so that out + row * kBytes is a
  // multiple of 16; from `further` bytes behind where the runs are. near: a run that begins at the row or before.
  HSTU_PRIM void copy(char* out, i32 row, i32 further, int& near) const {
    const i32 low = max(row, begin_), high = min(row + kSpanRows, end_) - 1;
    if (low > high) return;
    if (runs_.start(near + 1) <= low) near = find_sequence_together(runs_, near + 1, kCount, low);
    if (row >= begin_ && row + kSpanRows <= end_ && inside(near, row, kSpanRows))
      return copy_span<kBytes, kAccesses>(out + i64{row} * kBytes, source(near, row, further));
    copy_parts(out, row, further, near);
  }

 private:
  // Whether the rows, and all that shares 16 bytes with where they come from, are the run's.
  HSTU_PRIM bool inside(int run, i32 row, i32 rows) const {
    return runs_.start(run) <= row - (kPieceRows - 1) && row + rows + (kPieceRows - 1) <= runs_.start(run + 1);
  }
  HSTU_PRIM u64 source(int run, i32 row, i32 further) const { return runs_.from[run] + (i64{row} * kBytes + further); }

  // 512 bytes at a time, those that lie inside of a run on their way at once.
  HSTU_PRIM void copy_parts(char* out, i32 row, i32 further, int& near) const {
    prim::Quad data[kAccesses], next[kAccesses];
    u32 shift[kAccesses], whole = 0;
    const i32 high = min(row + kSpanRows, end_) - 1;
    const int first = near,
              last = runs_.start(near + 1) > high ? near : find_sequence_together(runs_, near + 1, kCount, high);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const i32 at = row + a * kPartRows;
      if (at < begin_ || at + kPartRows > end_) continue;
      near = run_of(near, last, at);
      if (!inside(near, at, kPartRows)) continue;
      const u64 from = source(near, at, further);
      shift[a] = from % 16;
      const char* const read = reinterpret_cast<const char*>(from - shift[a]) + threadIdx.x % 32 * 16;
      data[a] = prim::ld_global(read);
      next[a] = prim::ld_global(read + (shift[a] == 0 ? 0 : 16));
      whole |= 1u << a;
    }
#pragma unroll 1
    for (int a = 0; a < kAccesses; ++a)
      if (!(whole >> a & 1)) copy_pieces(out, row + a * kPartRows, further, first, last);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a)
      if (whole >> a & 1)
        prim::st_global(out + i64{row + a * kPartRows} * kBytes + threadIdx.x % 32 * 16,
                        shift[a] == 0 ? data[a] : joined<kBytes>(data[a], next[a], shift[a]));
  }

  // A piece a lane, of the runs [first, last].
  HSTU_PRIM void copy_pieces(char* out, i32 row, i32 further, int first, int last) const {
    const i32 at = row + static_cast<i32>(threadIdx.x % 32) * kPieceRows;
    const i32 low = max(at, begin_), high = min(at + kPieceRows, end_);
    if (low >= high) return;
    const int run = run_of(first, last, low);
    char* const written = out + i64{at} * kBytes;
    if (high - low == kPieceRows && inside(run, at, kPieceRows)) {
      const u64 from = source(run, at, further);
      const u32 shift = from % 16;
      const char* const read = reinterpret_cast<const char*>(from - shift);
      const prim::Quad low_part = prim::ld_global(read), high_part = prim::ld_global(read + (shift == 0 ? 0 : 16));
      prim::st_global(written, shift == 0 ? low_part : joined<kBytes>(low_part, high_part, shift));
    } else {
      copy_elements(written, at, low, high, further, run, last);
    }
  }

  // Rows [low, high) of the piece at row `at`, one by one.
  HSTU_PRIM void copy_elements(char* written, i32 at, i32 low, i32 high, i32 further, int run, int last) const {
    if constexpr (kPieceRows <= 4) {
      Piece<kBytes> element[kPieceRows];  // all on their way at once
#pragma unroll
      for (int e = 0; e < kPieceRows; ++e) {
        if (at + e < low || at + e >= high) continue;
        run = run_of(run, last, at + e);
        element[e].load(reinterpret_cast<const char*>(source(run, at + e, further)));
      }
#pragma unroll
      for (int e = 0; e < kPieceRows; ++e)
        if (low <= at + e && at + e < high) element[e].store(written + e * kBytes);
    } else {
#pragma unroll 1
      for (i32 here = low; here < high; ++here) {
        run = run_of(run, last, here);
        Piece<kBytes> element;
        element.load(reinterpret_cast<const char*>(source(run, here, further)));
        element.store(written + (here - at) * kBytes);
      }
    }
  }
  HSTU_PRIM int run_of(int first, int last, i32 row) const {
    return runs_.start(first + 1) > row ? first : find_sequence(runs_, first + 1, last + 1, row);
  }

  const RunTable<kCount>& runs_;
  const i32 begin_, end_;
};

}  // namespace hstu::tile
