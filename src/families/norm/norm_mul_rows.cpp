#include "families/norm/norm_mul_rows.hpp"

#include "families/norm/dropout_rate.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/norm_mul.h"
#include "operators/norm/norm_mul.hpp"

namespace hstujit::norm_mul_rows {
namespace {

std::string_view activation_type(int32_t activation) {
  switch (activation) {
    case HSTU_ACTIVATION_SILU:
      return "tile::Silu";
    case HSTU_ACTIVATION_SIGMOID:
      return "tile::Sigmoid";
    default:
      return "tile::Identity";
  }
}

}  // namespace

void write_facts(ConfigText& text, const Problem& problem) {
  const bool group_norm = problem[norm_mul::kGroups] > 0;
  const std::string_view copy = problem[norm_mul::kSiluU] != 0 ? "tile::Silu" : "tile::Identity";
  text.type("Element", device_type(static_cast<hstu_dtype>(problem[norm_mul::kDtype])));
  text.type("Weight", device_type(static_cast<hstu_dtype>(problem[norm_mul::kWeightDtype])));
  text.type("Copy", copy);
  // Under group norm u' is the multiplier as well, and there is no activation.
  text.type("Multiplier", group_norm ? copy : activation_type(problem[norm_mul::kActivation]));
  text.flag("kConcatU", problem[norm_mul::kConcatU] != 0);
  text.flag("kConcatX", problem[norm_mul::kConcatX] != 0);
  text.flag("kHasWeight", true);
  text.flag("kHasBias", problem[norm_mul::kNorm] != HSTU_NORM_RMS);
  text.flag("kCentred", problem[norm_mul::kNorm] != HSTU_NORM_RMS);
  text.type("Output", problem[norm_mul::kNorm] == HSTU_NORM_SWISH ? "tile::SwishOfNorm" : "tile::NormOnly");
  text.constant("kDropout", problem[norm_mul::kDropout]);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[norm_mul::kFp8]), problem[norm_mul::kScaling]);
  text.flag("kGroupNorm", group_norm);
}

void bind_params(const hstu_norm_mul_args& a, Launch& launch) {
  auto& p = launch.emplace<hstu::NormMulParams>();
  p.attn = a.attn.data;
  p.u = a.u.data;
  p.weight = a.weight.data;
  p.bias = a.bias.data;
  p.out = a.out.data;
  p.rows = a.attn.shape[0];
  p.attn_row_stride = a.attn.stride[0];
  p.u_row_stride = a.u.stride[0];
  p.out_row_stride = a.out.stride[0];
  if (a.dropout_ratio > 0) p.dropout = dropout_rate(a.dropout_ratio, a.seed);
  p.eps = a.eps;
  row_norm::bind_descale(a.descale, a.scaling, p);
}

}  // namespace hstujit::norm_mul_rows
