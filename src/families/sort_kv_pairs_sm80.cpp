// sort_kv_pairs_sm80: pairs sorted by their keys, kernels/sort_kv_pairs_sm80.cuh.
#include "families/families.hpp"
#include "families/rank_sort.hpp"
#include "params/rank_sort.h"
#include "problem/jagged_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

int key_bytes(const Problem& p) { return size_of(static_cast<hstu_dtype>(p[sort::kKeyDtype])); }

bool covers(const Problem&, const DeviceFacts&) { return true; }
Config default_config(const Problem& p, const DeviceFacts& device) {
  return rank_sort::default_config(p[sort::kCount], device);
}
Resources resources(const Problem& p, const Config& c) { return rank_sort::resources(key_bytes(p), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Key", device_type(static_cast<hstu_dtype>(p[sort::kKeyDtype])));
  text.constant("kValueBytes", p[sort::kValueBytes]);
  rank_sort::write_knobs(text, c);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_sort_kv_pairs_args*>(args);
  const int bytes = key_bytes(problem);
  rank_sort::set_shape(a.keys.shape[0], bytes, c, launch);
  auto& p = launch.emplace<hstu::RankSortParams>();
  p.keys = a.keys.data;
  p.values = a.values.data;
  p.out_keys = a.out_keys.data;
  p.out_values = a.out_values.data;
  const bool all = a.end_bit == 0 || a.end_bit == 8 * bytes;
  p.mask = all ? -1 : static_cast<int64_t>((uint64_t{1} << a.end_bit) - 1);
  // All bits as an unsigned number: its highest counts the other way than a sign.
  p.flip = a.end_bit == 8 * bytes ? static_cast<int64_t>(uint64_t{1} << (8 * bytes - 1)) : 0;
  if (a.descending) p.flip = ~p.flip;
  p.count = static_cast<int>(a.keys.shape[0]);
}

}  // namespace

const Family kSortKvPairsSm80 = {
    .name = "sort_kv_pairs_sm80",
    .op = Op::sort_kv_pairs,
    .min_compute_capability = 80,
    .knobs = rank_sort::kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "sort_kv_pairs_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
