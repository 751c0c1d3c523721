#include "support/cache_cases.hpp"

#include <algorithm>

namespace hstujit::test {
namespace {

/// What the sequences of a case hold.
struct Batch {
  std::vector<int64_t> queries, targets;
  int64_t total_q = 0, longest_q = 1, longest = 1;
};

/// within: of a sequence, targets are among its new rows.
Batch draw(const CacheCase& c, bool within, Random& random) {
  Batch batch;
  for (const int64_t length : c.lengths) {
    batch.queries.push_back(c.delta >= 0 ? c.delta
                                         : static_cast<int64_t>(random.below(static_cast<uint64_t>(-c.delta) + 1)));
    const int64_t room = within ? std::min(batch.queries.back(), length) : length;
    const auto most =
        static_cast<uint64_t>(c.targets == Targets::many && !within ? length + 3 : std::max<int64_t>(room, 0));
    batch.targets.push_back(
        c.targets == Targets::absent || c.targets == Targets::none ? 0 : static_cast<int64_t>(random.below(most + 1)));
    batch.total_q += batch.queries.back();
    batch.longest_q = std::max(batch.longest_q, batch.queries.back());
    batch.longest = std::max(batch.longest, length);
  }
  return batch;
}

template <class Args>
void place_queries(HostMemory& memory, const CacheCase& c, const Batch& batch, Args& args) {
  const int64_t spare = c.delta >= 0 ? 0 : 3, total = batch.total_q + spare;
  args.q = memory.poison(c.dtype, {total, c.heads, c.dim_qk}, c.layout);
  args.out = memory.poison(c.dtype, {total, c.heads, c.dim_v}, c.layout);
  randomise(rows_of(args.q, 0, batch.total_q), memory.random_numbers());
  if (c.delta < 0) {
    args.q_offsets = memory.integers(c.integer_dtype, offsets_of(batch.queries));
    args.max_q_len = std::max<int64_t>(batch.longest_q - 5, 1);  // some are longer than announced
  }
  if (c.scale == Scale::one) args.attn_scale = memory.floats({0.03f});
  if (c.scale == Scale::rows) args.attn_scale = memory.random(HSTU_DTYPE_F32, {total});
  args.max_seq_len = batch.longest;
  set_mask_and_bias(memory, c, c.integer_dtype, total, batch.longest, args);
}

/// Pages of a cache, poison; the page table names them in no order and leaves some out.
template <class Args>
void place_pages(HostMemory& memory, const CacheCase& c, const std::vector<int64_t>& histories, Args& args) {
  std::vector<int64_t> offsets{0}, ids, lens;
  for (const int64_t history : histories) {
    const int64_t pages = c.one_page ? 1 : (history + c.page_size - 1) / c.page_size;
    offsets.push_back(offsets.back() + pages);
    lens.push_back(c.one_page ? history : pages > 0 ? history - (pages - 1) * c.page_size : 1);
  }
  const int64_t used = offsets.back(), pages = used + (c.one_page ? 0 : 2);
  for (int64_t i = 0; i < used; ++i) ids.push_back(pages - 1 - i);
  for (int64_t i = used - 1; i > 0; --i)
    std::swap(ids[static_cast<size_t>(i)], ids[memory.random_numbers().below(static_cast<uint64_t>(i) + 1)]);
  const int64_t page = c.page_size * c.kv_heads * c.dim_qk;
  // Part `part` of the pages of one buffer, in which pages of keys and of values take turns.
  const auto part_of = [&](const hstu_tensor& both, int64_t part) {
    std::byte* const at = static_cast<std::byte*>(both.data) + part * page * size_of(c.dtype);
    return hstu_tensor{
        at, c.dtype, 4, 0, {pages, c.page_size, c.kv_heads, c.dim_qk}, {2 * page, c.kv_heads * c.dim_qk, c.dim_qk, 1}};
  };
  const auto make = [&](int64_t dim) {
    const int64_t padding = c.page_padding > 0 ? pages : 0;  // in rows, at least as much
    hstu_tensor t = memory.poison(c.dtype, {pages * c.page_size + padding, c.kv_heads, dim}, c.layout);
    return hstu_tensor{t.data,
                       t.dtype,
                       4,
                       0,
                       {pages, c.page_size, c.kv_heads, dim},
                       {c.page_size * t.stride[0] + c.page_padding, t.stride[0], t.stride[1], 1}};
  };
  if (c.interleaved) {
    const hstu_tensor both = memory.poison(c.dtype, {2 * pages, page});
    args.k_cache = part_of(both, 0);
    args.v_cache = part_of(both, 1);
  } else {
    args.k_cache = make(c.dim_qk);
    args.v_cache = make(c.dim_v);
  }
  args.last_page_lens = memory.integers(c.integer_dtype, lens);
  if (c.one_page) return;
  args.page_offsets = memory.integers(c.integer_dtype, offsets);
  args.page_ids = memory.integers(c.integer_dtype, ids);
}

/// One slot of a cache as a matrix [heads, dim].
hstu_tensor slot_of(const hstu_tensor& cache, int64_t page, int64_t slot) {
  const int64_t offset = page * cache.stride[0] + slot * cache.stride[1];
  return {static_cast<std::byte*>(cache.data) + offset * size_of(cache.dtype),
          cache.dtype,
          2,
          0,
          {cache.shape[2], cache.shape[3]},
          {cache.stride[2], 1}};
}

}  // namespace

std::string name_of_case(const CacheCase& c) {
  int64_t total = 0;
  for (const int64_t length : c.lengths) total += length;
  return fmt::format("{}_h{}k{}_{}_{}_n{}b{}_d{}{}_t{}_C{}W{}F{}g{}_m{}l{}r{}i{}h{}_s{}_p{}{}{}_{}_l{}s{}{}",
                     name_of(c.dtype), c.heads, c.kv_heads, c.dim_qk, c.dim_v, total, c.lengths.size(),
                     c.delta < 0 ? "u" : "", c.delta < 0 ? -c.delta : c.delta, static_cast<int>(c.targets),
                     c.contextual, c.max_attn_len, c.min_full, c.group, static_cast<int>(c.mask),
                     c.left < 0 ? 999 : c.left, c.right < 0 ? 999 : c.right, c.intervals, c.interval_heads,
                     static_cast<int>(c.scale), c.page_size, c.one_page ? "o" : "", c.interleaved ? "i" : "",
                     name_of(c.integer_dtype), c.layout.row_padding, c.layout.shift, c.own_contexts ? "_o" : "") +
         (c.bias == Bias::absent ? "" : fmt::format("_b{}", static_cast<int>(c.bias))) +
         (c.page_padding == 0 ? "" : fmt::format("_P{}", c.page_padding));
}

void PrintTo(const CacheCase& c, std::ostream* out) { *out << name_of_case(c); }

hstu_delta_attention_args delta_args(HostMemory& memory, const CacheCase& c) {
  hstu_delta_attention_args args{};
  args.struct_size = sizeof args;
  const Batch batch = draw(c, false, memory.random_numbers());
  place_queries(memory, c, batch, args);
  const auto offsets = offsets_of(c.lengths);
  args.k = memory.poison(c.dtype, {offsets.back() + 3, c.kv_heads, c.dim_qk}, c.layout);
  args.v = memory.poison(c.dtype, {offsets.back() + 3, c.kv_heads, c.dim_v}, c.layout);
  for (const hstu_tensor* t : {&args.k, &args.v}) randomise(rows_of(*t, 0, offsets.back()), memory.random_numbers());
  args.seq_offsets = memory.integers(c.integer_dtype, offsets);
  if (c.targets != Targets::absent) args.mask.num_targets = memory.integers(c.integer_dtype, batch.targets);
  return args;
}

hstu_paged_attention_args paged_args(HostMemory& memory, const CacheCase& c) {
  hstu_paged_attention_args args{};
  args.struct_size = sizeof args;
  const Batch batch = draw(c, true, memory.random_numbers());
  place_queries(memory, c, batch, args);
  std::vector<int64_t> histories;
  for (size_t b = 0; b < c.lengths.size(); ++b) histories.push_back(c.lengths[b] - batch.targets[b]);
  place_pages(memory, c, histories, args);
  for (size_t b = 0; b < histories.size(); ++b)
    for (int64_t position = 0; position < histories[b]; ++position) {
      const int64_t index = position / c.page_size;
      const int64_t page =
          c.one_page ? static_cast<int64_t>(b)
                     : integer_at(args.page_ids, integer_at(args.page_offsets, static_cast<int64_t>(b)) + index);
      for (const hstu_tensor* t : {&args.k_cache, &args.v_cache})
        randomise(slot_of(*t, page, position % c.page_size), memory.random_numbers());
    }
  if (c.targets == Targets::absent) return args;
  args.mask.num_targets = memory.integers(c.integer_dtype, batch.targets);
  const int64_t total = args.q.shape[0];
  args.k = memory.poison(c.dtype, {total, c.kv_heads, c.dim_qk}, c.layout);
  args.v = memory.poison(c.dtype, {total, c.kv_heads, c.dim_v}, c.layout);
  int64_t end = 0;
  for (size_t b = 0; b < histories.size(); ++b) {
    end += batch.queries[b];
    for (const hstu_tensor* t : {&args.k, &args.v})
      randomise(rows_of(*t, end - batch.targets[b], batch.targets[b]), memory.random_numbers());
  }
  return args;
}

hstu_append_kv_cache_args append_args(HostMemory& memory, const CacheCase& c) {
  hstu_append_kv_cache_args args{};
  args.struct_size = sizeof args;
  const Batch batch = draw(c, true, memory.random_numbers());
  const int64_t total = batch.total_q + (c.delta >= 0 ? 0 : 3);
  args.k = memory.random(c.dtype, {total, c.kv_heads, c.dim_qk}, c.layout);
  args.v = memory.random(c.dtype, {total, c.kv_heads, c.dim_v}, c.layout);
  place_pages(memory, c, c.lengths, args);
  if (c.delta < 0) args.seq_offsets = memory.integers(c.integer_dtype, offsets_of(batch.queries));
  if (c.targets != Targets::absent) args.num_targets = memory.integers(c.integer_dtype, batch.targets);
  return args;
}

}  // namespace hstujit::test
