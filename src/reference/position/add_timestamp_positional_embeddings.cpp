// Position and time embeddings: history counts backwards, times are buckets of ages.
#include "reference/jagged/added_rows.hpp"
#include "support/element.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::reference {
namespace {

using Args = hstu_add_timestamp_positional_embeddings_args;

int64_t position_of(const Args& args, const SequenceRow& at) {
  if (at.local() < args.max_contextual_seq_len) return limited(at.local(), args.position_embeddings);
  const int64_t history = at.length() - target_rows(args.num_targets, args.interleave_targets, at.sequence);
  return limited(history - std::min(at.local(), history) + args.max_contextual_seq_len, args.position_embeddings);
}

/// In f32 as the operator is defined: buckets have edges, and doubles would put some ages on the other side of them.
int64_t bucket_of(const Args& args, const SequenceRow& at) {
  const int64_t query_time =
      present(args.query_time) ? integer_at(args.query_time, at.sequence) : integer_at(args.timestamps, at.end - 1);
  const auto age = static_cast<float>(query_time - integer_at(args.timestamps, at.row));
  const float increments = std::max(age, 1e-6f) / args.time_bucket_increments;
  const float bucket = args.time_bucket_fn == HSTU_TIME_BUCKET_LOG ? std::log(increments) : std::sqrt(increments);
  return limited(static_cast<int64_t>(bucket), args.timestamp_embeddings);
}

}  // namespace

void run(const hstu_add_timestamp_positional_embeddings_args& args, double* const* exact) {
  add_rows(args.x, args.out, args.seq_offsets, args.alpha,
           {{args.position_embeddings, [&](const SequenceRow& at) { return position_of(args, at); }},
            {args.timestamp_embeddings, [&](const SequenceRow& at) { return bucket_of(args, at); }}},
           exact);
}

}  // namespace hstujit::reference
