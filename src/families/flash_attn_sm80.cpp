// flash_attn_sm80: softmax attention with the instructions of sm_80, kernels/flash_attn_sm80.cuh; the search space is
// that of attn_fwd_sm80.
#include "families/attn_space.hpp"
#include "families/families.hpp"
#include "params/attn_fwd.h"
#include "problem/attention_fields.hpp"
#include "problem/operators.hpp"

#include <algorithm>
#include <numbers>

namespace hstujit {
namespace {

namespace fields = flash_attention;

attn_space::Shape shape_of(const Problem& p) {
  return {p[fields::kHeadDimQk], p[fields::kHeadDimV], p[fields::kVector] == 8, true};
}

bool covers(const Problem& p, const DeviceFacts&) {
  return p[fields::kDtype] == HSTU_DTYPE_BF16 || p[fields::kDtype] == HSTU_DTYPE_F16;
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return attn_space::default_config(shape_of(p), device);
}
Resources resources(const Problem& p, const Config& c) { return attn_space::resources(shape_of(p), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto offset = static_cast<hstu_dtype>(p[fields::kOffsetDtype]);
  const bool jagged = offset != HSTU_DTYPE_NONE;
  text.type("Element", device_type(static_cast<hstu_dtype>(p[fields::kDtype])));
  text.type("Offset", device_type(jagged ? offset : HSTU_DTYPE_I32));
  text.type("Target", device_type(HSTU_DTYPE_I32));
  text.type("Mask", "variant::HstuMask<Config>");
  text.type("Sequences", jagged ? "variant::JaggedSequences<Config>" : "variant::DenseSequences<Config>");
  text.type("Keys", "tile::KeyRows<Config>");
  text.constant("kHeadDimQk", p[fields::kHeadDimQk]);
  text.constant("kHeadDimV", p[fields::kHeadDimV]);
  text.flag("kVectorIo", p[fields::kVector] == 8);
  text.flag("kCausal", p[fields::kMask] == HSTU_MASK_CAUSAL);
  for (const char* absent :
       {"kLocal", "kHasTargets", "kTargetGroups", "kContextual", "kMaxAttnLen", "kMinFullAttn", "kAttnScale", "kSilu"})
    text.flag(absent, false);
  text.flag("kSoftmax", true);
  text.flag("kLse", p[fields::kLse] != 0);
  text.flag("kBias", false);
  attn_space::write_knobs(text, c);
}

/// Where the dimensions of the tensors stand.
struct Dims {
  int batch, head, row, last;
};

void set_tensors(hstu::AttnFwdParams& k, const hstu_flash_attention_args& a, const Dims& d) {
  const auto batch_stride = [&](const hstu_tensor& t) { return d.batch >= 0 ? t.stride[d.batch] : 0; };
  k.q = a.q.data, k.k = a.k.data, k.v = a.v.data, k.out = a.out.data;
  k.q_row_stride = a.q.stride[d.row], k.q_head_stride = a.q.stride[d.head], k.q_batch_stride = batch_stride(a.q);
  k.k_row_stride = a.k.stride[d.row], k.k_head_stride = a.k.stride[d.head], k.k_batch_stride = batch_stride(a.k);
  k.v_row_stride = a.v.stride[d.row], k.v_head_stride = a.v.stride[d.head], k.v_batch_stride = batch_stride(a.v);
  k.out_row_stride = a.out.stride[d.row], k.out_head_stride = a.out.stride[d.head];
  k.out_batch_stride = batch_stride(a.out);
  k.lse = static_cast<float*>(a.lse.data);
  k.lse_batch_stride = batch_stride(a.lse);
  k.lse_head_stride = a.lse.stride[d.batch >= 0 ? 1 : 0];
  k.lse_row_stride = a.lse.stride[d.batch >= 0 ? 2 : 1];
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_flash_attention_args*>(args);
  const bool jagged = present(a.seq_offsets);
  const Dims dims = jagged ? Dims{-1, 1, 0, 2} : Dims{0, 1, 2, 3};
  const int64_t batch = jagged ? a.seq_offsets.shape[0] - 1 : a.q.shape[0], heads = a.q.shape[1];
  const int64_t rows = jagged ? std::min(a.max_seq_len, a.q.shape[0]) : a.q.shape[2];
  const int row_blocks = attn_space::set_grid(launch, shape_of(p), c, batch * heads, rows);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  set_tensors(k, a, dims);
  k.seq_offsets = a.seq_offsets.data;
  k.batch = static_cast<int>(batch);
  k.num_heads = static_cast<int>(heads);
  k.row_blocks = row_blocks;
  k.log2_alpha = a.scale * std::numbers::log2e_v<float>;
  k.queries = static_cast<int>(jagged ? 0 : a.q.shape[2]);
  k.keys = static_cast<int>(jagged ? 0 : a.k.shape[2]);
  const int64_t keys = jagged ? rows : a.k.shape[2];
  k.section_pairs = attn_space::section_pairs(
      batch * heads, batch * heads * keys * (a.q.shape[dims.last] + a.v.shape[dims.last]) * size_of(a.q.dtype), device);
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
