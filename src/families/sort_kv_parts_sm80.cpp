// sort_kv_parts_sm80: many pairs sorted by their keys, kernels/sort_kv_parts_sm80.cuh.
#include "families/families.hpp"
#include "families/rank_sort.hpp"
#include "families/sample_sort.hpp"
#include "problem/jagged_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Key", device_type(static_cast<hstu_dtype>(p[sort::kKeyDtype])));
  text.constant("kValueBytes", p[sort::kValueBytes]);
  sample_sort::write_knobs(text, c);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_sort_kv_pairs_args*>(args);
  sample_sort::set_shape(a.keys.shape[0], problem, c, device, launch);
  rank_sort::set_params(a, launch);
}

}  // namespace

const Family kSortKvPartsSm80 = {
    .name = "sort_kv_parts_sm80",
    .op = Op::sort_kv_pairs,
    .min_compute_capability = 80,
    .knobs = sample_sort::kKnobs,
    .rules = sample_sort::kRules,
    .covers = sample_sort::covers,
    .default_config = sample_sort::default_config,
    .resources = sample_sort::resources,
    .write_config = write_config,
    .smem_expression = "sort_kv_parts_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
