// The reference of attention against a cache: a sequence's queries are its newest rows, its keys lie anywhere.
#pragma once

#include "reference/mask.hpp"
#include "reference/rows.hpp"

#include <functional>
#include <vector>

namespace hstujit::reference {

/// One head of one sequence. Positions count from the sequence's first key.
struct CachedHead {
  SequenceMask mask;
  int64_t sequence = 0, head = 0, keys = 0, queries = 0, first_q = 0;  ///< first_q: of the sequence's rows of q and out
  /// Stores the key (or value) at a position as doubles.
  std::function<void(int64_t position, double*out)> key, value;
};

/// What all heads share.
struct CachedCall {
  const hstu_tensor &q, &attn_scale, &rab;
  double alpha = 0, scaling_seqlen = 0;
  int64_t dim_qk = 0, dim_v = 0;
};

/// Writes the sequence's rows of out.
void attend(const CachedCall& call, const CachedHead& head, const Output& out);

}  // namespace hstujit::reference
