#include "families/jagged/sort_problem.hpp"

#include "jagged/rank_sort.h"
#include "operators/jagged/sort_by_length.hpp"
#include "operators/jagged/sort_kv_pairs.hpp"
#include "operators/operators.hpp"
#include "support/element.hpp"

namespace hstujit::sort_problem {
namespace {

bool is_by_length(const Problem& p) { return p.op == Op::sort_by_length; }

hstu_dtype key_dtype(const Problem& p) {
  return static_cast<hstu_dtype>(is_by_length(p) ? p[sort_by_length::kOffsetDtype] : p[sort::kKeyDtype]);
}

int64_t set_pairs(const hstu_sort_kv_pairs_args& a, hstu::RankSortParams& p) {
  const int bytes = size_of(a.keys.dtype);
  p.keys = a.keys.data;
  p.values = a.values.data;
  p.out_keys = a.out_keys.data;
  p.out_values = a.out_values.data;
  const bool all = a.end_bit == 0 || a.end_bit == 8 * bytes;
  p.mask = all ? -1 : static_cast<int64_t>((uint64_t{1} << a.end_bit) - 1);
  // All bits as an unsigned number: its highest counts the other way than a sign.
  p.flip = a.end_bit == 8 * bytes ? static_cast<int64_t>(uint64_t{1} << (8 * bytes - 1)) : 0;
  if (a.descending) p.flip = ~p.flip;
  return a.keys.shape[0];
}

int64_t set_lengths(const hstu_sort_by_length_args& a, hstu::RankSortParams& p) {
  p.keys = a.offsets.data;
  p.out_values = a.out.data;
  return a.out.shape[0];
}

}  // namespace

int32_t count(const Problem& p) { return is_by_length(p) ? p[sort_by_length::kCount] : p[sort::kCount]; }
int key_bytes(const Problem& p) { return size_of(key_dtype(p)); }

void write_types(ConfigText& text, const Problem& p) {
  text.type("Key", device_type(key_dtype(p)));
  if (is_by_length(p))
    text.type("Result", device_type(static_cast<hstu_dtype>(p[sort_by_length::kOutDtype])));
  else
    text.constant("kValueBytes", p[sort::kValueBytes]);
}

int64_t set_params(const void* args, const Problem& problem, Launch& launch) {
  auto& p = launch.emplace<hstu::RankSortParams>();
  const int64_t elements = is_by_length(problem) ? set_lengths(*static_cast<const hstu_sort_by_length_args*>(args), p)
                                                 : set_pairs(*static_cast<const hstu_sort_kv_pairs_args*>(args), p);
  p.count = static_cast<int>(elements);
  return elements;
}

}  // namespace hstujit::sort_problem
