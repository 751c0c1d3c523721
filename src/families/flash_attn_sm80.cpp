// flash_attn_sm80: softmax attention with the instructions of sm_80, kernels/flash_attn_sm80.cuh; the search space is
// that of attn_fwd_sm80.
#include "families/attn_space.hpp"
#include "families/families.hpp"
#include "families/flash_attn.hpp"
#include "problem/attention_fields.hpp"
#include "problem/operators.hpp"

namespace hstujit {
namespace {

namespace fields = flash_attention;

attn_space::Shape shape_of(const Problem& p) {
  return {.head_dim_qk = p[fields::kHeadDimQk],
          .head_dim_v = p[fields::kHeadDimV],
          .vector = p[fields::kVector] == 8,
          .softmax = true};
}

bool covers(const Problem& p, const DeviceFacts&) {
  return p[fields::kDtype] == HSTU_DTYPE_BF16 || p[fields::kDtype] == HSTU_DTYPE_F16;
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return attn_space::default_config(shape_of(p), device);
}
Resources resources(const Problem& p, const Config& c) { return attn_space::resources(shape_of(p), c); }

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

const Family kFlashAttnSm80 = {
    .name = "flash_attn_sm80",
    .op = Op::flash_attention,
    .min_compute_capability = 80,
    .knobs = attn_space::kKnobs,
    .rules = attn_space::kRules<shape_of>,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_fwd_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
