// Attention of new rows against jagged keys and values, from its definition.
#include "problem/attention/delta_attention.hpp"
#include "reference/attention/cached_attention.hpp"
#include "reference/integers.hpp"
#include "support/element.hpp"

namespace hstujit::reference {
namespace {

using delta_attention::query_rows;

void check_contents(const hstu_delta_attention_args& args) {
  check_offsets("seq_offsets", args.seq_offsets, args.k.shape[0], "k.shape[0]");
  if (present(args.q_offsets)) check_offsets("q_offsets", args.q_offsets, args.q.shape[0], "q.shape[0]");
  check_counts("num_targets", args.num_targets);
  check_counts("num_contexts", args.num_contexts);
}

CachedHead head_of(const hstu_delta_attention_args& args, int64_t b, int64_t head) {
  const int64_t batch = args.seq_offsets.shape[0] - 1, first = integer_at(args.seq_offsets, b);
  const auto rows = query_rows(args.q_offsets, args.q.shape[0], batch, b);
  const int64_t keys = integer_at(args.seq_offsets, b + 1) - first;
  const int64_t kv_head = head / (args.q.shape[1] / args.k.shape[1]);
  const auto reader = [=](const hstu_tensor& t) {
    return [&t, first, kv_head](int64_t position, double* out) {
      load(t, (first + position) * t.stride[0] + kv_head * t.stride[1], t.shape[2], out);
    };
  };
  return {.mask = sequence_mask(args, b, rows.last - keys, head),
          .sequence = b,
          .head = head,
          .keys = keys,
          .queries = rows.last - rows.first,
          .first_q = rows.first,
          .key = reader(args.k),
          .value = reader(args.v)};
}

}  // namespace

void run(const hstu_delta_attention_args& args, double* const* exact) {
  check_contents(args);
  attend_all(args, args.seq_offsets.shape[0] - 1, head_of, exact);
}

}  // namespace hstujit::reference
