// Attention of new rows against jagged keys and values, from its definition.
#include "problem/delta_attention.hpp"
#include "reference/cached_attention.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

namespace hstujit::reference {
namespace {

using delta_attention::query_rows;

void check_offsets(const char* name, const hstu_tensor& offsets, int64_t total, const char* what) {
  if (const int64_t first = integer_at(offsets, 0); first != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[0] = {}: offsets start at 0", name, first);
  for (int64_t b = 0; b + 1 < offsets.shape[0]; ++b) {
    const int64_t begin = integer_at(offsets, b), end = integer_at(offsets, b + 1);
    if (end < begin || end > total)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}[{}] = {}: offsets never decrease (here from {}) nor pass {} = {}", name,
           b + 1, end, begin, what, total);
  }
}

void check_contents(const hstu_delta_attention_args& args) {
  check_offsets("seq_offsets", args.seq_offsets, args.k.shape[0], "k.shape[0]");
  if (present(args.q_offsets)) check_offsets("q_offsets", args.q_offsets, args.q.shape[0], "q.shape[0]");
  for (int64_t b = 0; present(args.num_targets) && b < args.num_targets.shape[0]; ++b)
    if (const int64_t targets = integer_at(args.num_targets, b); targets < 0)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "num_targets[{}] = {}: it must not be negative", b, targets);
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
  check_contexts(args);
  attend_all(args, args.seq_offsets.shape[0] - 1, head_of, exact);
}

}  // namespace hstujit::reference
