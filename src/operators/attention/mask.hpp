// Which keys a query sees in HSTU attention: once as a predicate, the definition, and once as an interval per row,
// which is what counts pairs.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>

namespace hstujit::reference {

/// Whether query i sees key j in a sequence of n rows: C contextual rows, then history, then T targets; W is the window
/// (0: unlimited) and the last F history rows are exempt from it, as are all targets when F > 0. Targets come in groups
/// of g that are causal within.
constexpr bool allowed(int64_t i, int64_t j, int64_t n, int64_t C, int64_t T, int64_t W, int64_t F, int64_t g = 1) {
  if (i == j) return true;
  if (n < C + T) return false;  // degenerate: the diagonal only
  const int64_t h = n - T;
  if (j >= h) return j < i && (i - h) / g == (j - h) / g;  // nobody sees a target of another group
  if (i < C) return true;    // contextual rows see all but targets, even what follows them
  if (j >= i) return false;  // causal
  if (W == 0) return true;
  if (F > 0 && i >= h - F) return true;
  // Distance in identities: the contextual rows are one identity together, and so are the targets.
  const int64_t query = i < h ? i : h, key = C > 0 && j < C - 1 ? C - 1 : j;
  return query - key <= W;
}

/// The mask of one head of one sequence.
struct SequenceMask {
  hstu_mask kind = HSTU_MASK_CAUSAL;
  int64_t contextual = 0, targets = 0, max_attn_len = 0, min_full = 0, group = 1;  ///< CAUSAL
  int64_t left = -1, right = -1;  ///< LOCAL: how far a row looks back and ahead; negative: as far as there are keys
  hstu_tensor bounds{};           ///< INTERVALS: [bounds, rows] of the head
  int64_t row_of_zero = 0;        ///< INTERVALS: the row of bounds that position 0 would have

  bool allows(int64_t i, int64_t j, int64_t n) const {
    if (kind == HSTU_MASK_FULL) return true;
    if (kind == HSTU_MASK_LOCAL) return (left < 0 || j >= i - left) && (right < 0 || j <= i + right);
    if (kind == HSTU_MASK_INTERVALS) return in_intervals(i, j);
    return allowed(i, j, n, contextual, targets, max_attn_len, min_full, group);
  }

 private:
  bool in_intervals(int64_t i, int64_t j) const;
};

/// The mask of a head of sequence b; reads num_targets and num_contexts, which may be as large as their type allows.
/// row_of_zero: the row of q that its position 0 would have.
SequenceMask sequence_mask(const hstu_mask_options& options, int64_t b, int64_t row_of_zero, int64_t head);

/// The keys of a row: [begin, end) and its own group, [own, row]. Not of INTERVALS.
struct KeyRange {
  int64_t begin = 0, end = 0, own = 0;
};
KeyRange keys_of_row(const SequenceMask& mask, int64_t i, int64_t n);

/// Number of allowed (query, key) pairs in a sequence of n rows whose queries begin at position `first`.
double pair_count(const SequenceMask& mask, int64_t n, int64_t first = 0);
/// The same of so many heads of sequence b.
double pair_count_of_heads(const hstu_mask_options& options, int64_t heads, int64_t b, int64_t row_of_zero,
                           int64_t first, int64_t n);

}  // namespace hstujit::reference
