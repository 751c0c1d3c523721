// attn_f32_sm80: jagged HSTU attention in f32, kernels/attention/attn_f32_sm80.cuh.
#include "families/attention/attn_f32.hpp"
#include "families/attention/attn_facts.hpp"
#include "families/families.hpp"
#include "operators/attention/attention.hpp"

#include <algorithm>

namespace hstujit {
namespace {

attn_f32::Shape shape_of(const Problem& p) {
  return {p[attention::kHeadDimQk], p[attention::kHeadDimV], p[attention::kIntervals]};
}

bool covers(const Problem& p, const DeviceFacts&) {
  return p[attention::kDtype] == HSTU_DTYPE_F32 && p[attention::kMoments] == 0;
}
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

const Family kAttnF32Sm80 = attn_f32::family<shape_of>("attn_f32_sm80", Op::attention, covers, write_config, bind);

}  // namespace hstujit
