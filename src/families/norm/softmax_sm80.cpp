// softmax_sm80: softmax of rows, bound by memory, kernels/norm/softmax_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/softmax.h"
#include "operators/norm/softmax.hpp"

namespace hstujit {
namespace {

bool covers(const Problem&, const DeviceFacts&) { return true; }

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  text.type("Element", device_type(static_cast<hstu_dtype>(problem[softmax::kDtype])));
  text.flag("kLog", problem[softmax::kLog] != 0);
  text.flag("kZeroEmpty", problem[softmax::kZeroEmpty] != 0);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_softmax_args*>(args);
  row_norm::bind_shape(problem, config, a.x.shape[0], launch);
  auto& p = launch.emplace<hstu::SoftmaxParams>();
  p.x = a.x.data;
  p.y = a.out.data;
  p.rows = a.x.shape[0];
  p.x_row_stride = a.x.stride[0];
  p.y_row_stride = a.out.stride[0];
}

}  // namespace

const Family kSoftmaxSm80 = {
    .name = "softmax_sm80",
    .room = "norm",
    .op = Op::softmax,
    .min_compute_capability = 80,
    .knobs = row_norm::kKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "softmax_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
