// The reference of attention against a cache: a sequence's queries are its newest rows, its keys lie anywhere.
#pragma once

#include "operators/attention/mask.hpp"
#include "operators/operators.hpp"
#include "operators/rows.hpp"

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

/// Writes out. head_of(args, sequence, head) says what a head has.
template <class Args, class HeadOf>
void attend_all(const Args& args, int64_t batch, const HeadOf& head_of, double* const* exact) {
  const CachedCall call{.q = args.q,
                        .attn_scale = args.attn_scale,
                        .rab = args.rab,
                        .alpha = static_cast<double>(args.alpha),
                        .scaling_seqlen = static_cast<double>(args.scaling_seqlen),
                        .dim_qk = args.q.shape[2],
                        .dim_v = args.out.shape[2]};
  const Output out(args.out, exact);
  const int64_t heads = args.q.shape[1];
  parallel_for(batch * heads, operator_of(op_of<Args>()).work(&args).flops,
               [&](int64_t task) { attend(call, head_of(args, task / heads, task % heads), out); });
}

}  // namespace hstujit::reference
