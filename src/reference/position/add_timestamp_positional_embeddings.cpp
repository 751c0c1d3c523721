// Position and time embeddings: history counts backwards, times are buckets of ages.
#include "reference/integers.hpp"
#include "reference/jagged/added_rows.hpp"
#include "support/element.hpp"
#include "support/to_integer.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::reference {
namespace {

using Args = hstu_add_timestamp_positional_embeddings_args;

int64_t position_of(const Args& args, const SequenceRow& at) {
  if (at.local() < args.max_contextual_seq_len) return limited(at.local(), args.position_embeddings);
  const int64_t history = history_of(at, args.num_targets, args.interleave_targets);
  return limited(history - std::min(at.local(), history) + args.max_contextual_seq_len, args.position_embeddings);
}

/// Seconds from `time` to the query, 0 where it is later. They may lie further apart than signed integers reach.
float age_of(int64_t query_time, int64_t time) {
  return query_time > time ? static_cast<float>(static_cast<uint64_t>(query_time) - static_cast<uint64_t>(time)) : 0;
}

/// In f32 as the operator is defined: buckets have edges, and doubles would put some ages on the other side of them.
int64_t bucket_of(const Args& args, const SequenceRow& at) {
  const int64_t query_time =
      present(args.query_time) ? integer_at(args.query_time, at.sequence) : integer_at(args.timestamps, at.end - 1);
  const float age = age_of(query_time, integer_at(args.timestamps, at.row));
  const float increments = std::max(age, 1e-6f) / args.time_bucket_increments;
  const float bucket = args.time_bucket_fn == HSTU_TIME_BUCKET_LOG ? std::log(increments) : std::sqrt(increments);
  return limited(to_integer<int64_t>(bucket), args.timestamp_embeddings);
}

}  // namespace

void run(const hstu_add_timestamp_positional_embeddings_args& args, double* const* exact) {
  check_counts("num_targets", args.num_targets);
  add_rows(args.x, args.out, args.seq_offsets, args.alpha,
           {{args.position_embeddings, [&](const SequenceRow& at) { return position_of(args, at); }},
            {args.timestamp_embeddings, [&](const SequenceRow& at) { return bucket_of(args, at); }}},
           exact);
}

}  // namespace hstujit::reference
