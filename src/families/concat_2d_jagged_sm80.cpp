// concat_2d_jagged_sm80: concatenation of jagged tensors, bound by memory, kernels/concat_2d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged_copy.hpp"
#include "problem/jagged_fields.hpp"

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
  p.left_blocks = jagged_copy::blocks(problem, config, parts.left.rows);
  const int64_t right_blocks = a.is_replace ? 0 : jagged_copy::blocks(problem, config, parts.right.rows);
  jagged_copy::bind_shape(problem, config, parts.batch == 0 ? 0 : p.left_blocks + right_blocks, launch);
}

}  // namespace

const Family kConcat2dJaggedSm80 = {
    .name = "concat_2d_jagged_sm80",
    .op = Op::concat_2d_jagged,
    .min_compute_capability = 80,
    .knobs = jagged_copy::kKnobs,
    .rules = jagged_copy::kRules,
    .covers = jagged_copy::covers,
    .default_config = jagged_copy::default_config,
    .resources = jagged_copy::resources,
    .write_config = write_config,
    .smem_expression = "concat_2d_jagged_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
