// flash_attn_f32_sm80: softmax attention in f32, kernels/attention/flash_attn_f32_sm80.cuh.
#include "families/attention/attn_f32.hpp"
#include "families/attention/flash_attn.hpp"
#include "families/families.hpp"
#include "operators/attention/flash_attention.hpp"

namespace hstujit {
namespace {

attn_f32::Shape shape_of(const Problem& p) {
  return {p[flash_attention::kHeadDimQk], p[flash_attention::kHeadDimV], 0};
}

bool covers(const Problem& p, const DeviceFacts&) { return p[flash_attention::kDtype] == HSTU_DTYPE_F32; }
void write_config(ConfigText& text, const Problem& p, const Config& c) {
  flash_attn::write_facts(text, p);
  attn_f32::write_knobs(text, c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_flash_attention_args*>(args);
  const flash_attn::Extents extents = flash_attn::extents_of(a);
  const int row_blocks = attn_f32::set_grid(launch, shape_of(p), c, extents.batch * extents.heads, extents.rows);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  flash_attn::fill(k, a, extents);
  k.row_blocks = row_blocks;
}

}  // namespace

const Family kFlashAttnF32Sm80 =
    attn_f32::family<shape_of>("flash_attn_f32_sm80", Op::flash_attention, covers, write_config, bind);

}  // namespace hstujit
