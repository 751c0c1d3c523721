// attn_f32_sm80: jagged HSTU attention in f32, kernels/attn_f32_sm80.cuh.
#include "families/attn_f32.hpp"
#include "families/attn_facts.hpp"
#include "families/families.hpp"
#include "problem/attention_fields.hpp"

#include <algorithm>

namespace hstujit {
namespace {

attn_f32::Shape shape_of(const Problem& p) {
  return {p[attention::kHeadDimQk], p[attention::kHeadDimV], p[attention::kIntervals]};
}

bool covers(const Problem& p, const DeviceFacts&) {
  return p[attention::kDtype] == HSTU_DTYPE_F32 && p[attention::kMoments] == 0;
}
Config default_config(const Problem& p, const DeviceFacts& device) {
  return attn_f32::default_config(shape_of(p), device);
}
Resources resources(const Problem& p, const Config& c) { return attn_f32::resources(shape_of(p), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Mask", p[attention::kIntervals] > 0 ? "variant::IntervalMask<Config>" : "variant::HstuMask<Config>");
  text.type("Sequences", "variant::JaggedSequences<Config>");
  attn_facts::write(text, p);
  attn_f32::write_knobs(text, c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  const int64_t pairs = (a.seq_offsets.shape[0] - 1) * a.q.shape[1];
  const int row_blocks = attn_f32::set_grid(launch, shape_of(p), c, pairs, std::min(a.max_seq_len, a.q.shape[0]));
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  attn_facts::fill(k, a, p);
  k.row_blocks = row_blocks;
}

}  // namespace

const Family kAttnF32Sm80 = {
    .name = "attn_f32_sm80",
    .op = Op::hstu_attention,
    .min_compute_capability = 80,
    .knobs = attn_f32::kKnobs,
    .rules = attn_f32::kRules<shape_of>,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_f32_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
