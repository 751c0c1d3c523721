// flash_attn_sm80: softmax attention with the instructions of sm_80, kernels/attention/flash_attn_sm80.cuh; the search
// space is that of attn_fwd_sm80.
#include "families/attention/attn_space.hpp"
#include "families/attention/flash_attn.hpp"
#include "families/families.hpp"
#include "operators/attention/flash_attention.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

namespace fields = flash_attention;

attn_space::Shape shape_of(const Problem& p) {
  return {.head_dim_qk = p[fields::kHeadDimQk],
          .head_dim_v = p[fields::kHeadDimV],
          .vector = p[fields::kVector] == 8,
          .softmax = true};
}

bool covers(const Problem& p, const DeviceFacts&) { return is_16_bit(p[fields::kDtype]); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  flash_attn::write_facts(text, p);
  text.type("Keys", "tile::KeyRows<Config>");
  text.flag("kVectorIo", p[fields::kVector] == 8);
  attn_space::write_knobs(text, c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_flash_attention_args*>(args);
  const flash_attn::Extents extents = flash_attn::extents_of(a);
  const int64_t pairs = extents.batch * extents.heads;
  const int row_blocks = attn_space::set_grid(launch, shape_of(p), c, pairs, extents.rows);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  flash_attn::fill(k, a, extents);
  k.row_blocks = row_blocks;
  const int64_t dims = a.q.shape[extents.last] + a.v.shape[extents.last];
  k.section_pairs = attn_space::section_pairs(pairs, pairs * extents.keys * dims * size_of(a.q.dtype), device);
}

}  // namespace

const Family kFlashAttnSm80 =
    attn_space::family<shape_of>("flash_attn_sm80", Op::flash_attention, covers, write_config, bind);

}  // namespace hstujit
