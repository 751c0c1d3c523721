// A cache of keys and values in pages, as the operators on it see it: checks, and where a sequence's rows lie.
#pragma once

#include "operators/checks.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <vector>

namespace hstujit::cache_pages {

/// The members of an args struct that describe a cache.
struct Tensors {
  hstu_tensor &k_cache, &v_cache, &page_offsets, &page_ids, &last_page_lens;
};
template <class Args>
Tensors tensors(Args& a) {
  return {a.k_cache, a.v_cache, a.page_offsets, a.page_ids, a.last_page_lens};
}

/// Checked: k and v are [pages, page_size, num_kv_heads, dim].
struct Checked {
  checks::Tensor k, v;
  int64_t batch = 0, page_size = 0;
};
Checked check(const Tensors& t);
/// The output shares no byte with the page table.
void check_apart(const Tensors& t, const checks::Tensor& out);

/// Slots from one page to the next, if that is a whole number, the same for K and V, and all slots can be counted in 31
/// bits; otherwise 0.
int64_t page_rows(const hstu_tensor& k_cache, const hstu_tensor& v_cache);

/// Rows of history of sequence b. Tensors on the host.
int64_t history(const hstu_tensor& k_cache, const hstu_tensor& page_offsets, const hstu_tensor& last_page_lens,
                int64_t b);
/// Where position `position` of sequence b lies: {page, slot}.
struct Slot {
  int64_t page = 0, slot = 0;
};
Slot slot(const hstu_tensor& k_cache, const hstu_tensor& page_offsets, const hstu_tensor& page_ids, int64_t b,
          int64_t position);
/// Throws INVALID_ARGUMENT unless the pages of every sequence exist and its last one has a length in it. On the host.
void check_contents(const hstu_tensor& k_cache, const hstu_tensor& page_offsets, const hstu_tensor& page_ids,
                    const hstu_tensor& last_page_lens);

/// An edge case: every fourth sequence has no pages, others fewer; last pages of all lengths. Integers by slot, those
/// of absent tensors empty.
void make_ragged(std::vector<int64_t>& page_offsets, std::vector<int64_t>& last_page_lens);

}  // namespace hstujit::cache_pages
