// Which sequence a row of a jagged tensor belongs to. A sequence is found by bisection of its start among all starts,
// 32 probes a round where a warp searches together: two rounds of dependent reads for a thousand sequences.
//
// Starts are a type with start(b) for b in [0, batch]: not decreasing, start(0) = 0.
#pragma once
#include "prim/lanes.cuh"

namespace hstu::tile {

// Marks a part of which every sequence has the same number of rows, where an offset type stands otherwise.
struct Dense {};

// Of a sequence, from the lengths of all; 0 where there is no such part.
template <class Length>
HSTU_PRIM i64 length_at(const void* lengths, int sequence) {
  return static_cast<const Length*>(lengths)[sequence];
}
template <>
HSTU_PRIM i64 length_at<Dense>(const void*, int) {
  return 0;
}

// Starts in memory.
template <class Offset>
class SequenceStarts {
 public:
  enum : bool { kDense = false };
  HSTU_PRIM SequenceStarts(const void* offsets, i64) : offsets_(static_cast<const Offset*>(offsets)) {}
  HSTU_PRIM i64 start(int sequence) const { return offsets_[sequence]; }

 private:
  const Offset* offsets_;
};
template <>
class SequenceStarts<Dense> {
 public:
  enum : bool { kDense = true };
  HSTU_PRIM SequenceStarts(const void*, i64 length) : length_(length) {}
  HSTU_PRIM i64 start(int sequence) const { return sequence * length_; }

 private:
  i64 length_;
};

// Sequences that are one of A behind one of B, or the other way round.
template <class A, class B>
struct SumOfStarts {
  const A& a;
  const B& b;
  HSTU_PRIM i64 start(int sequence) const { return a.start(sequence) + b.start(sequence); }
};
template <class A, class B>
HSTU_PRIM SumOfStarts<A, B> sum_of_starts(const A& a, const B& b) {
  return {a, b};
}

// The last sequence in [low, high) that starts at `row` or before; low does. One lane alone.
template <class Starts>
HSTU_PRIM int find_sequence(const Starts& starts, int low, int high, i64 row) {
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (starts.start(middle) <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The same by a whole warp, all lanes with the same arguments.
template <class Starts>
HSTU_PRIM int find_sequence_together(const Starts& starts, int low, int high, i64 row) {
  const u32 lane = prim::lane_id();
  while (high - low > 1) {
    const u32 step = (high - low + 31u) >> 5, probe = lane * step;  // of at most 2^31 sequences
    const bool inside = probe < static_cast<u32>(high - low);
    const u32 before =
        __ballot_sync(prim::kFullWarp, lane == 0 || (inside && starts.start(low + static_cast<int>(probe)) <= row));
    low += static_cast<int>((__popc(before) - 1) * step);
    high = min(high, low + static_cast<int>(step));
  }
  return low;
}

// The same among all sequences. The warp looks first around a guess, at 32 neighbours at once: mostly it is one of
// them, and they lie in two or three lines of memory, where 32 that are far apart occupy the first-level cache 32
// times.
template <class Starts>
HSTU_PRIM int find_sequence_around(const Starts& starts, int batch, int guess, i64 row) {
  const int low = max(min(guess - 16, batch - 32), 0), high = min(low + 32, batch);
  const int probe = low + static_cast<int>(prim::lane_id());
  const int before = __popc(__ballot_sync(prim::kFullWarp, probe < high && starts.start(probe) <= row));
  if (before > 0 && (before < 32 || high == batch)) return low + before - 1;
  return find_sequence_together(starts, before == 0 ? 0 : high - 1, before == 0 ? low : batch, row);
}

// Where the row's sequence were if all had as many rows: density / 2^32 sequences a row.
HSTU_PRIM int even_sequence(u64 density, i64 row) { return static_cast<int>(static_cast<u64>(row) * density >> 32); }
template <class Starts>
HSTU_PRIM int find_sequence_near(const Starts& starts, int batch, u64 density, i64 row) {
  return find_sequence_around(starts, batch, even_sequence(density, row), row);
}

// The sequences that a warp's rows [first_row, last_row] belong to. Rows past the last sequence count as its.
struct SequenceRange {
  int first, last;

  SequenceRange() = default;
  template <class Starts>
  HSTU_PRIM SequenceRange(const Starts& starts, int batch, i64 first_row, i64 last_row) {
    first = last = find_sequence_together(starts, 0, batch, first_row);
    extend(starts, batch, last_row);
  }
  // By find_sequence_near.
  template <class Starts>
  HSTU_PRIM static SequenceRange near(const Starts& starts, int batch, u64 density, i64 first_row, i64 last_row) {
    SequenceRange range;
    range.first = range.last = find_sequence_near(starts, batch, density, first_row);
    if (first_row < last_row) range.extend(starts, batch, last_row);
    return range;
  }
  // From one sequence on.
  template <class Starts>
  HSTU_PRIM void extend(const Starts& starts, int batch, i64 last_row) {
    if (first + 1 < batch && starts.start(first + 1) <= last_row)
      last = find_sequence_together(starts, first + 1, batch, last_row);
  }
  template <class Starts>
  HSTU_PRIM int of(const Starts& starts, i64 row) const {
    return first == last ? first : find_sequence(starts, first, last + 1, row);
  }
};

}  // namespace hstu::tile
