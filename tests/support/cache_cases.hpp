// Calls on caches of keys and values for tests on the device: sequences, masks, pages and layouts by description.
#pragma once

#include "support/attention_cases.hpp"

#include <string>
#include <vector>

namespace hstujit::test {

struct CacheCase {
  hstu_dtype dtype = HSTU_DTYPE_BF16;
  int64_t heads = 2, kv_heads = 2, dim_qk = 64, dim_v = 64;
  std::vector<int64_t> lengths{};  ///< keys of each sequence; paged: targets included
  int64_t delta = 16;              ///< new rows of each sequence; negative: unequal ones, at most so many
  Targets targets = Targets::absent;
  int64_t contextual = 0, max_attn_len = 0, min_full = 0, group = 0;
  bool own_contexts = false;  ///< each sequence has a number of contextual rows of its own, at most `contextual`
  hstu_mask mask = HSTU_MASK_CAUSAL;
  int64_t left = 0, right = 0;
  int64_t intervals = 0, interval_heads = 1;
  Scale scale = Scale::absent;
  Bias bias = Bias::absent;
  int64_t page_size = 32;
  bool one_page = false;     ///< no page table: sequence b has page b
  bool interleaved = false;  ///< K and V pages alternate in one buffer
  int64_t page_padding = 0;  ///< elements behind each page
  hstu_dtype integer_dtype = HSTU_DTYPE_I32;
  Layout layout{};
};

void PrintTo(const CacheCase& c, std::ostream* out);
std::string name_of_case(const CacheCase& c);

/// The calls; all their tensors lie in `memory`, rows that are not to be read are NaN.
hstu_delta_attention_args delta_args(HostMemory& memory, const CacheCase& c);
hstu_paged_attention_args paged_args(HostMemory& memory, const CacheCase& c);
hstu_append_kv_cache_args append_args(HostMemory& memory, const CacheCase& c);

}  // namespace hstujit::test
