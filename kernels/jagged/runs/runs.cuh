// Copies of vectors of small elements that come from memory in runs, each at its own distance from where it goes: what
// is written lies in pieces of 16 bytes, what is read may begin between them.
//
// Work      A warp writes kAccesses x 512 bytes that follow one another. Mostly they are of one run: then a lane reads
//           the two pieces that its own lies across and joins them, the second from L1. Where a run ends, each lane
//           looks for its pieces' own, and reads elements one by one where a piece has several.
// Memory    What is read lies in the tensor that the run is of, to the byte: 16 bytes around an element are read only
//           where all of them are the tensor's.
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

// kAccesses x 512 bytes that a whole warp copies to `to`, a multiple of 16, from `from`, wherever that is: in flight
// first, then written. Reads up to 15 bytes before and behind.
template <int kBytes, int kAccesses>
struct SpanInFlight {
  prim::Quad data[kAccesses];

  HSTU_PRIM void load(u64 from) {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) data[a] = prim::ld_global(piece(from) + a * 512);
  }
  // What a piece has of the next 16 bytes comes from L1 now, for registers.
  HSTU_PRIM void store(char* to, u64 from) {
    const u32 shift = from % 16;
    char* const written = to + threadIdx.x % 32 * 16;
#pragma unroll
    for (int first = 0; first < kAccesses; first += kTogether) {
      if (shift != 0) {
        prim::Quad next[kTogether];
#pragma unroll
        for (int a = 0; a < kTogether; ++a) next[a] = prim::ld_global(piece(from) + (first + a) * 512 + 16);
#pragma unroll
        for (int a = 0; a < kTogether; ++a) data[first + a] = joined<kBytes>(data[first + a], next[a], shift);
      }
#pragma unroll
      for (int a = 0; a < kTogether; ++a) prim::st_global(written + (first + a) * 512, data[first + a]);
    }
  }

 private:
  enum : int { kTogether = kAccesses < 2 ? kAccesses : 2 };
  HSTU_PRIM static const char* piece(u64 from) {
    return reinterpret_cast<const char*>(from & ~15ull) + threadIdx.x % 32 * 16;
  }
};

// Runs: of rows, which are elements here and counted in Row, in order. start(r), where run r begins, and where the one
// before it ends; from(r), the address that row 0 would come from if run r had it; begin(r) and end(r), of the tensor
// it is read from.

// Rows [low, high) of a warp's span of kSpanRows rows, which goes to `out`, where row 0 lies; out + row * kBytes is a
// multiple of 16. Their runs are [first, last): first has row `low`, and high is at most where the last one ends.
template <int kBytes, int kAccesses, class Runs>
class SpanCopier {
 public:
  using Row = typename Runs::Row;
  enum : int { kPieceRows = 16 / kBytes, kPartRows = 32 * kPieceRows, kSpanRows = kAccesses * kPartRows };

  HSTU_PRIM SpanCopier(const Runs& runs, char* out, Row row, Row low, Row high, int first, int last)
      : runs_(runs), out_(out), row_(row), low_(low), high_(high), first_(first), last_(last) {}

  // Where the span comes from if it is of one run; else 0.
  HSTU_PRIM u64 from() const {
    if (low_ != row_ || high_ != row_ + kSpanRows || high_ > runs_.start(first_ + 1)) return 0;
    const u64 from = source(first_, row_);
    return inside(first_, from, kSpanRows * kBytes) ? from : 0;
  }

  // By a whole warp, whatever runs there are: a piece a lane and access. Those that lie in one run are in flight at
  // once, and meanwhile the others are copied.
  HSTU_PRIM void copy() const {
    constexpr int kTogether = kAccesses < 2 ? kAccesses : 2;
    const int last = end();
    Row at = row_ + static_cast<int>(threadIdx.x % 32) * kPieceRows;
#pragma unroll 1
    for (int first = 0; first < kAccesses; first += kTogether, at += kTogether * kPartRows) {
      prim::Quad data[kTogether], next[kTogether];
      u32 shift[kTogether], whole = 0;
#pragma unroll
      for (int a = 0; a < kTogether; ++a) {
        const Row here = at + a * kPartRows;
        if (here < low_ || here + kPieceRows > high_) continue;
        const int run = run_of(first_, last, here);
        const u64 from = source(run, here);
        if (runs_.start(run + 1) < here + kPieceRows || !inside(run, from, 16)) continue;
        shift[a] = from % 16;
        const char* const read = reinterpret_cast<const char*>(from - shift[a]);
        data[a] = prim::ld_global(read);
        next[a] = prim::ld_global(read + (shift[a] == 0 ? 0 : 16));
        whole |= 1u << a;
      }
#pragma unroll 1
      for (int a = 0; a < kTogether; ++a)
        if (!(whole >> a & 1)) copy_elements(at + a * kPartRows, last);
#pragma unroll
      for (int a = 0; a < kTogether; ++a)
        if (whole >> a & 1)
          prim::st_global(out_ + static_cast<i64>(at + a * kPartRows) * kBytes,
                          shift[a] == 0 ? data[a] : joined<kBytes>(data[a], next[a], shift[a]));
    }
  }

 private:
  HSTU_PRIM u64 source(int run, Row row) const {
    return runs_.from(run) + static_cast<u64>(static_cast<i64>(row) * kBytes);
  }
  // Whether all that shares 16 bytes with them is the tensor's.
  HSTU_PRIM bool inside(int run, u64 from, u32 bytes) const {
    return (from & ~15ull) >= runs_.begin(run) && ((from + bytes + 15) & ~15ull) <= runs_.end(run);
  }
  // Behind the run that has row high_ - 1.
  HSTU_PRIM int end() const {
    const int probe = first_ + 1 + static_cast<int>(prim::lane_id());
    const u32 before = __ballot_sync(prim::kFullWarp, probe < last_ && runs_.start(probe) < high_);
    if (before != prim::kFullWarp) return first_ + 1 + __popc(before);
    return find_sequence_together(runs_, first_ + 32, last_, high_ - 1) + 1;
  }
  HSTU_PRIM int run_of(int first, int last, Row row) const {
    return runs_.start(first + 1) > row ? first : find_sequence(runs_, first + 1, last, row);
  }

  // Of the piece at row `at`, four in flight at once.
  HSTU_PRIM void copy_elements(Row at, int last) const {
    constexpr int kAtOnce = kPieceRows < 4 ? kPieceRows : 4;
    int run = first_;
#pragma unroll 1
    for (int first = 0; first < kPieceRows; first += kAtOnce, at += kAtOnce) {
      Piece<kBytes> element[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) {
        if (at + e < low_ || at + e >= high_) continue;
        run = run_of(run, last, at + e);
        element[e].load(reinterpret_cast<const char*>(source(run, at + e)));
      }
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e)
        if (low_ <= at + e && at + e < high_) element[e].store(out_ + static_cast<i64>(at + e) * kBytes);
    }
  }

  const Runs& runs_;
  char* const out_;
  const Row row_, low_, high_;
  const int first_, last_;
};

}  // namespace hstu::tile
