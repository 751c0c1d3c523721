#include "families/norm/rope_rows.hpp"

#include "families/norm/row_norm.hpp"
#include "norm/rms_norm_rope.h"
#include "operators/norm/rms_norm_rope.hpp"

namespace hstujit::rope_rows {

void write_facts(ConfigText& text, const Problem& problem) {
  text.type("Element", device_type(static_cast<hstu_dtype>(problem[rms_norm_rope::kDtype])));
  text.type("Weight", device_type(static_cast<hstu_dtype>(problem[rms_norm_rope::kWeightDtype])));
  text.type("Angle", device_type(static_cast<hstu_dtype>(problem[rms_norm_rope::kAngleDtype])));
  text.constant("kHalf", problem[rms_norm_rope::kHeadDim] / 2);
}

void bind_params(const hstu_rms_norm_rope_args& a, Launch& launch) {
  auto& p = launch.emplace<hstu::RmsNormRopeParams>();
  p.x = a.x.data;
  p.weight = a.weight.data;
  p.cosine = a.cosine.data;
  p.sine = a.sine.data;
  p.y = a.out.data;
  p.rows = a.x.shape[0] * a.x.shape[1];
  p.length = a.x.shape[1];
  p.x_batch_stride = a.x.stride[0];
  p.x_row_stride = a.x.stride[1];
  p.y_batch_stride = a.out.stride[0];
  p.y_row_stride = a.out.stride[1];
  p.cosine_row_stride = a.cosine.stride[0];
  p.sine_row_stride = a.sine.stride[0];
  p.eps = a.eps;
  row_norm::bind_descale(a.descale, a.scaling, p);
}

}  // namespace hstujit::rope_rows
