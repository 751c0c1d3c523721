// Which keys a query sees in HSTU attention: once as a predicate, the definition, and once as an interval per row,
// which is what counts pairs.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>

namespace hstujit::reference {

/// Whether query i sees key j in a sequence of n rows: C contextual rows, then history, then T targets; W is the window
/// (0: unlimited) and the last F history rows are exempt from it, as are all targets when F > 0.
constexpr bool allowed(int64_t i, int64_t j, int64_t n, int64_t C, int64_t T, int64_t W, int64_t F) {
  if (i == j) return true;
  if (n < C + T) return false;  // degenerate: the diagonal only
  const int64_t h = n - T;
  if (j >= h) return false;  // nobody sees another target
  if (i < C) return true;    // contextual rows see all but targets, even what follows them
  if (j >= i) return false;  // causal
  if (W == 0) return true;
  if (F > 0 && i >= h - F) return true;
  // Distance in identities: the contextual rows are one identity together, and so are the targets.
  const int64_t query = i < h ? i : h, key = C > 0 && j < C - 1 ? C - 1 : j;
  return query - key <= W;
}

/// The mask of one sequence.
struct SequenceMask {
  bool full = false;  ///< HSTU_MASK_FULL: every row sees every row
  int64_t contextual = 0, targets = 0, max_attn_len = 0, min_full = 0;

  bool allows(int64_t i, int64_t j, int64_t n) const {
    return full || allowed(i, j, n, contextual, targets, max_attn_len, min_full);
  }
};

/// The mask of sequence b; reads num_targets.
SequenceMask sequence_mask(const hstu_attention_args& args, int64_t b);

/// Keys [begin, end) and, apart from them, the row's own.
struct KeyRange {
  int64_t begin = 0, end = 0;
};
KeyRange keys_of_row(const SequenceMask& mask, int64_t i, int64_t n);

/// Number of allowed (query, key) pairs in a sequence of n rows.
double pair_count(const SequenceMask& mask, int64_t n);

}  // namespace hstujit::reference
