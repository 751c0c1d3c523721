// sort_by_length_sm80: the numbers of the sequences, the longest first, kernels/sort_by_length_sm80.cuh.
#include "families/families.hpp"
#include "families/rank_sort.hpp"
#include "problem/jagged_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

int key_bytes(const Problem& p) { return size_of(static_cast<hstu_dtype>(p[sort_by_length::kOffsetDtype])); }

bool covers(const Problem& p, const DeviceFacts&) { return p[sort_by_length::kCount] <= sort::kMostByRank; }
Config default_config(const Problem& p, const DeviceFacts& device) {
  return rank_sort::default_config(p[sort_by_length::kCount], device);
}
Resources resources(const Problem& p, const Config& c) { return rank_sort::resources(key_bytes(p), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  rank_sort::write_length_types(text, p);
  rank_sort::write_knobs(text, c);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_sort_by_length_args*>(args);
  rank_sort::set_shape(a.out.shape[0], key_bytes(problem), c, launch);
  rank_sort::set_params(a, launch);
}

}  // namespace

const Family kSortByLengthSm80 = {
    .name = "sort_by_length_sm80",
    .op = Op::sort_by_length,
    .min_compute_capability = 80,
    .knobs = rank_sort::kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "sort_by_length_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
