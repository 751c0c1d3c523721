// split_2d_jagged_sm80: splitting of jagged tensors, bound by memory, kernels/jagged/split_2d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/jagged_copy.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_split_2d_jagged_args*>(args);
  const auto parts =
      jagged_copy::parts_of(a.left, a.right, a.offsets_left, a.offsets_right, a.max_len_left, a.max_len_right);
  auto& p = launch.emplace<hstu::JaggedCopyParams>();
  jagged_copy::bind_tensors(a.left, a.right, a.offsets_left, a.offsets_right, a.values, parts, p);
  p.prefix = a.n_prefix_to_right;
  jagged_copy::bind_shape(config, parts.batch == 0 ? 0 : jagged_copy::blocks(problem, config, a.values.shape[0]),
                          launch);
}

}  // namespace

const Family kSplit2dJaggedSm80 = {
    .name = "split_2d_jagged_sm80",
    .room = "jagged",
    .op = Op::split_2d_jagged,
    .min_compute_capability = 80,
    .knobs = jagged_copy::kKnobs,
    .rules = {},
    .covers = jagged_copy::covers,
    .default_config = jagged_copy::default_config,
    .resources = jagged_copy::resources,
    .write_config = jagged_copy::write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
