#include "operators/attention/cache_pages.hpp"

#include "operators/edge_case.hpp"
#include "operators/operators.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::cache_pages {
namespace {

void check_table(const Tensors& t, const checks::Tensor& lens, int64_t pages) {
  const bool offsets_given = checks::given("page_offsets", t.page_offsets),
             ids_given = checks::given("page_ids", t.page_ids);
  if (offsets_given != ids_given)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is absent, but {} is there: give both, or neither for one page a sequence",
         offsets_given ? "page_ids" : "page_offsets", offsets_given ? "page_offsets" : "page_ids");
  const int64_t batch = lens.t.shape[0];
  if (!offsets_given) {
    if (pages < batch)
      fail(HSTU_ERROR_SHAPE_MISMATCH,
           "k_cache.shape[0] = {}: without page_offsets it must be at least batch = {}, a page for each sequence",
           pages, batch);
    return;
  }
  const checks::Tensor offsets = checks::required<1>("page_offsets", t.page_offsets);
  const checks::Tensor ids = checks::required<1>("page_ids", t.page_ids);
  for (const checks::Tensor* other : {&offsets, &ids}) checks::same_dtype(*other, lens);
  checks::extent(offsets, 0, batch + 1, "batch + 1, batch = last_page_lens.shape[0]");
}

}  // namespace

Checked check(const Tensors& t) {
  const checks::Tensor k = checks::required<4>("k_cache", t.k_cache), v = checks::required<4>("v_cache", t.v_cache);
  checks::same_dtype(v, k);
  for (int d = 0; d < 3; ++d) checks::extent(v, d, k.t.shape[d], "that of k_cache");
  const int64_t page_size = k.t.shape[1];
  if (page_size < 1 || page_size > INT32_MAX)
    fail(HSTU_ERROR_UNSUPPORTED, "page_size = {} (k_cache.shape[1]): kernels cover 1 to {}", page_size, INT32_MAX);
  const checks::Tensor lens = checks::required<1>("last_page_lens", t.last_page_lens);
  checks::integer(lens);
  checks::field(lens, 0);
  check_table(t, lens, k.t.shape[0]);
  return {k, v, lens.t.shape[0], page_size};
}

void check_apart(const Tensors& t, const checks::Tensor& out) {
  struct Named {
    const char* name;
    hstu_tensor& t;
  };
  for (const Named& in : {Named{"page_offsets", t.page_offsets}, Named{"page_ids", t.page_ids},
                          Named{"last_page_lens", t.last_page_lens}})
    if (present(in.t)) checks::disjoint(out, {in.name, in.t, extent_bytes(in.t)});
}

int64_t page_rows(const hstu_tensor& k_cache, const hstu_tensor& v_cache) {
  const auto rows_of = [](const hstu_tensor& t) {
    if (t.shape[0] <= 1 || t.shape[1] <= 1) return t.shape[1];
    return t.stride[1] > 0 && t.stride[0] % t.stride[1] == 0 ? t.stride[0] / t.stride[1] : 0;
  };
  const int64_t rows = rows_of(k_cache);
  return rows == rows_of(v_cache) && k_cache.shape[0] * rows <= INT32_MAX ? rows : 0;
}

int64_t history(const hstu_tensor& k_cache, const hstu_tensor& page_offsets, const hstu_tensor& last_page_lens,
                int64_t b) {
  const int64_t pages =
      present(page_offsets) ? integer_at(page_offsets, b + 1) - integer_at(page_offsets, b) : int64_t{1};
  return pages > 0 ? (pages - 1) * k_cache.shape[1] + integer_at(last_page_lens, b) : 0;
}

Slot slot(const hstu_tensor& k_cache, const hstu_tensor& page_offsets, const hstu_tensor& page_ids, int64_t b,
          int64_t position) {
  const int64_t page_size = k_cache.shape[1], page = position / page_size;
  return {present(page_offsets) ? integer_at(page_ids, integer_at(page_offsets, b) + page) : b, position % page_size};
}

void check_contents(const hstu_tensor& k_cache, const hstu_tensor& page_offsets, const hstu_tensor& page_ids,
                    const hstu_tensor& last_page_lens) {
  const int64_t batch = last_page_lens.shape[0], page_size = k_cache.shape[1];
  for (int64_t b = 0; b < batch; ++b) {
    int64_t begin = b, end = b + 1;
    if (present(page_offsets)) begin = integer_at(page_offsets, b), end = integer_at(page_offsets, b + 1);
    if (begin < 0) fail(HSTU_ERROR_INVALID_ARGUMENT, "page_offsets[{}] = {}: it must not be negative", b, begin);
    if (end < begin || (present(page_offsets) && end > page_ids.shape[0]))
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "page_offsets[{}] = {}: it must be at least page_offsets[{}] = {} and at most page_ids.shape[0] = {}", b + 1,
           end, b, begin, page_ids.shape[0]);
    const int64_t last = integer_at(last_page_lens, b), least = present(page_offsets) ? 1 : 0;
    if (end > begin && (last < least || last > page_size))
      fail(HSTU_ERROR_INVALID_ARGUMENT, "last_page_lens[{}] = {}: it must be {} to page_size = {}", b, last, least,
           page_size);
    for (int64_t page = begin; present(page_offsets) && page < end; ++page)
      if (const int64_t id = integer_at(page_ids, page); id < 0 || id >= k_cache.shape[0])
        fail(HSTU_ERROR_INVALID_ARGUMENT,
             "page_ids[{}] = {}: it must be less than k_cache.shape[0] = {}, and not negative", page, id,
             k_cache.shape[0]);
  }
}

void make_ragged(std::vector<int64_t>& page_offsets, std::vector<int64_t>& last_page_lens) {
  std::vector<int64_t> none;
  edge_case::make_ragged(page_offsets, none);
  for (size_t b = 0; b < last_page_lens.size(); ++b)
    last_page_lens[b] -= static_cast<int64_t>(b) % std::max<int64_t>(last_page_lens[b], 1);
}

}  // namespace hstujit::cache_pages
