// sort_by_length_parts_sm80: the numbers of many sequences, the longest first, kernels/sort_by_length_parts_sm80.cuh.
#include "families/families.hpp"
#include "families/rank_sort.hpp"
#include "families/sample_sort.hpp"
#include "problem/jagged_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  rank_sort::write_length_types(text, p);
  sample_sort::write_knobs(text, c);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_sort_by_length_args*>(args);
  sample_sort::set_shape(a.out.shape[0], problem, c, device, launch);
  rank_sort::set_params(a, launch);
}

}  // namespace

const Family kSortByLengthPartsSm80 = {
    .name = "sort_by_length_parts_sm80",
    .op = Op::sort_by_length,
    .min_compute_capability = 80,
    .knobs = sample_sort::kKnobs,
    .rules = sample_sort::kRules,
    .covers = sample_sort::covers,
    .default_config = sample_sort::default_config,
    .resources = sample_sort::resources,
    .write_config = write_config,
    .smem_expression = "sort_by_length_parts_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
