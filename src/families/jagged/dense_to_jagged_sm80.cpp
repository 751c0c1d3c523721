// dense_to_jagged_sm80: rows of padded matrices as a jagged tensor, kernels/jagged/dense_to_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/padded.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_dense_to_jagged_args*>(args);
  padded::bind(a.out, a.dense, a.offsets, a.out.shape[0], problem, config, launch);
}

}  // namespace

const Family kDenseToJaggedSm80 = {
    .name = "dense_to_jagged_sm80",
    .room = "jagged",
    .op = Op::dense_to_jagged,
    .min_compute_capability = 80,
    .knobs = padded::kKnobs,
    .rules = padded::kRules,
    .covers = padded::covers,
    .default_config = padded::default_config,
    .resources = padded::resources,
    .write_config = padded::write_config,
    .smem_expression = "dense_to_jagged_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
