// sort_kv_pairs_sm80: pairs sorted by their keys, kernels/sort_kv_pairs_sm80.cuh.
#include "families/families.hpp"
#include "families/rank_sort.hpp"
#include "problem/jagged_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

int key_bytes(const Problem& p) { return size_of(static_cast<hstu_dtype>(p[sort::kKeyDtype])); }

bool covers(const Problem& p, const DeviceFacts&) { return p[sort::kCount] <= sort::kMostByRank; }
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
  rank_sort::set_shape(a.keys.shape[0], key_bytes(problem), c, launch);
  rank_sort::set_params(a, launch);
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
