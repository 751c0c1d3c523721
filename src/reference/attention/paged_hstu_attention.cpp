// Attention of new rows against keys and values in pages, from its definition.
#include "problem/attention/cache_pages.hpp"
#include "problem/attention/delta_attention.hpp"
#include "reference/attention/cached_attention.hpp"
#include "reference/integers.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

namespace hstujit::reference {
namespace {

using delta_attention::query_rows;

void check_contents(const hstu_paged_attention_args& args) {
  cache_pages::check_contents(args.k_cache, args.page_offsets, args.page_ids, args.last_page_lens);
  if (present(args.q_offsets)) check_offsets("q_offsets", args.q_offsets, args.q.shape[0], "q.shape[0]");
  check_counts("num_targets", args.num_targets);
  check_counts("num_contexts", args.num_contexts);
  const int64_t batch = args.last_page_lens.shape[0];
  for (int64_t b = 0; present(args.num_targets) && b < batch; ++b) {
    const auto rows = query_rows(args.q_offsets, args.q.shape[0], batch, b);
    if (const int64_t targets = integer_at(args.num_targets, b); targets > rows.last - rows.first)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "num_targets[{}] = {}: the sequence has {} new rows", b, targets,
           rows.last - rows.first);
  }
}

/// Reads from the cache, and behind it from the new rows.
std::function<void(int64_t, double*)> reader(const hstu_paged_attention_args& args, const hstu_tensor& cache,
                                             const hstu_tensor& rows, int64_t b, int64_t kv_head, int64_t cached,
                                             int64_t row_of_zero) {
  return [=, &args, &cache, &rows](int64_t position, double* out) {
    if (position >= cached)
      return load(rows, (row_of_zero + position) * rows.stride[0] + kv_head * rows.stride[1], rows.shape[2], out);
    const auto at = cache_pages::slot(args.k_cache, args.page_offsets, args.page_ids, b, position);
    load(cache, at.page * cache.stride[0] + at.slot * cache.stride[1] + kv_head * cache.stride[2], cache.shape[3], out);
  };
}

CachedHead head_of(const hstu_paged_attention_args& args, int64_t b, int64_t head) {
  const auto rows = query_rows(args.q_offsets, args.q.shape[0], args.last_page_lens.shape[0], b);
  const int64_t cached = cache_pages::history(args.k_cache, args.page_offsets, args.last_page_lens, b);
  const int64_t keys = cached + (present(args.num_targets) ? integer_at(args.num_targets, b) : 0);
  const int64_t kv_head = head / (args.q.shape[1] / args.k_cache.shape[2]), row_of_zero = rows.last - keys;
  return {.mask = sequence_mask(args, b, row_of_zero, head),
          .sequence = b,
          .head = head,
          .keys = keys,
          .queries = rows.last - rows.first,
          .first_q = rows.first,
          .key = reader(args, args.k_cache, args.k, b, kv_head, cached, row_of_zero),
          .value = reader(args, args.v_cache, args.v, b, kv_head, cached, row_of_zero)};
}

}  // namespace

void run(const hstu_paged_attention_args& args, double* const* exact) {
  check_contents(args);
  attend_all(args, args.last_page_lens.shape[0], head_of, exact);
}

}  // namespace hstujit::reference
