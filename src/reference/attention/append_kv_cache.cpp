// Copying new keys and values into a cache, element by element.
#include "problem/attention/cache_pages.hpp"
#include "problem/attention/delta_attention.hpp"
#include "problem/operators.hpp"
#include "problem/targets.hpp"
#include "reference/integers.hpp"
#include "support/element.hpp"

#include <algorithm>
#include <cstring>

namespace hstujit::reference {
namespace {

/// One head's row to its place: in the cache bit by bit, or as doubles where unrounded results go.
void copy_row(const hstu_tensor& from, int64_t from_offset, const hstu_tensor& cache, const cache_pages::Slot& at,
              int64_t head, double* const* exact, int output) {
  const int64_t dim = from.shape[2];
  if (exact) {
    if (!exact[output]) return;
    double* to = exact[output] + ((at.page * cache.shape[1] + at.slot) * cache.shape[2] + head) * dim;
    load(from, from_offset, dim, to);
    return;
  }
  const int64_t offset = at.page * cache.stride[0] + at.slot * cache.stride[1] + head * cache.stride[2];
  const auto size = static_cast<int64_t>(size_of(from.dtype));
  std::memcpy(static_cast<std::byte*>(cache.data) + offset * size,
              static_cast<const std::byte*>(from.data) + from_offset * size, static_cast<size_t>(dim * size));
}

}  // namespace

void run(const hstu_append_kv_cache_args& args, double* const* exact) {
  cache_pages::check_contents(args.k_cache, args.page_offsets, args.page_ids, args.last_page_lens);
  if (present(args.seq_offsets)) check_offsets("seq_offsets", args.seq_offsets, args.k.shape[0], "k.shape[0]");
  check_counts("num_targets", args.num_targets);
  const int64_t batch = args.last_page_lens.shape[0];
  for (int64_t b = 0; b < batch; ++b) {
    const auto rows = delta_attention::query_rows(args.seq_offsets, args.k.shape[0], batch, b);
    const int64_t history = cache_pages::history(args.k_cache, args.page_offsets, args.last_page_lens, b);
    const int64_t given = rows.last - rows.first, fresh = given - targets_of(args.num_targets, b, given);
    for (int64_t r = std::max<int64_t>(fresh - history, 0); r < fresh; ++r) {
      const auto at = cache_pages::slot(args.k_cache, args.page_offsets, args.page_ids, b, history - fresh + r);
      for (int64_t head = 0; head < args.k.shape[1]; ++head) {
        const int64_t row = rows.first + r;
        copy_row(args.k, row * args.k.stride[0] + head * args.k.stride[1], args.k_cache, at, head, exact, 0);
        copy_row(args.v, row * args.v.stride[0] + head * args.v.stride[1], args.v_cache, at, head, exact, 1);
      }
    }
  }
}

}  // namespace hstujit::reference
