// concat_2d_jagged_sm80: concatenation of jagged tensors, bound by memory, kernels/jagged/concat_2d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/jagged_copy.hpp"
#include "operators/jagged/jagged_copy.hpp"

namespace hstujit {
namespace {

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  jagged_copy::write_config(text, problem, config);
  text.flag("kReplace", problem[jagged_copy::kReplace] != 0);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_concat_2d_jagged_args*>(args);
  const auto parts =
      jagged_copy::parts_of(a.left, a.right, a.offsets_left, a.offsets_right, a.max_len_left, a.max_len_right);
  auto& p = launch.emplace<hstu::JaggedCopyParams>();
  jagged_copy::bind_tensors(a.left, a.right, a.offsets_left, a.offsets_right, a.out, parts, p);
  p.prefix = a.n_prefix_from_right;
  const int64_t right = a.is_replace ? 0 : jagged_copy::blocks(problem, config, parts.right.rows);
  const int64_t all = jagged_copy::blocks(problem, config, parts.left.rows) + right;
  p.right_share = all == 0 ? 0 : ((right << 32) + all - 1) / all;  // rounded up: it makes `right` of all exactly
  jagged_copy::bind_shape(config, parts.batch == 0 ? 0 : all, launch);
}

}  // namespace

const Family kConcat2dJaggedSm80 = {
    .name = "concat_2d_jagged_sm80",
    .room = "jagged",
    .op = Op::concat_2d_jagged,
    .min_compute_capability = 80,
    .knobs = jagged_copy::kKnobs,
    .rules = {},
    .covers = jagged_copy::covers,
    .default_config = jagged_copy::default_config,
    .resources = jagged_copy::resources,
    .write_config = write_config,
    .smem_expression = "",
    .bind = bind,
};

}  // namespace hstujit
