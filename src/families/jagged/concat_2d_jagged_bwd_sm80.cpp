// concat_2d_jagged_bwd_sm80: the gradient of a concatenation of jagged tensors, bound by memory,
// kernels/jagged/concat_2d_jagged_bwd_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/jagged_copy.hpp"

namespace hstujit {
namespace {

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  jagged_copy::write_config(text, problem, config);
  text.flag("kReplace", problem[jagged_copy::kReplace] != 0);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_concat_2d_jagged_backward_args*>(args);
  const hstu_concat_2d_jagged_args& f = a.forward;
  const bool has_left = present(a.dleft), has_right = present(a.dright);
  const auto parts = jagged_copy::parts_of(has_left ? a.dleft : f.left, has_right ? a.dright : f.right, f.offsets_left,
                                           f.offsets_right, f.max_len_left, f.max_len_right);
  auto& p = launch.emplace<hstu::JaggedCopyParams>();
  jagged_copy::bind_tensors(a.dleft, a.dright, f.offsets_left, f.offsets_right, a.dout, parts, p);
  p.prefix = f.n_prefix_from_right;
  const int64_t right = has_right ? jagged_copy::blocks(problem, config, parts.right.rows) : 0;
  const int64_t all = (has_left ? jagged_copy::blocks(problem, config, parts.left.rows) : 0) + right;
  p.right_share = all == 0 ? 0 : ((right << 32) + all - 1) / all;  // rounded up: it makes `right` of all exactly
  jagged_copy::bind_shape(config, parts.batch == 0 ? 0 : all, launch);
}

}  // namespace

const Family kConcat2dJaggedBwdSm80 = {
    .name = "concat_2d_jagged_bwd_sm80",
    .room = "jagged",
    .op = Op::concat_2d_jagged_backward,
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
