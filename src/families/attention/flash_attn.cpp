#include "families/attention/flash_attn.hpp"

#include "families/attention/attn_facts.hpp"
#include "operators/attention/flash_attention.hpp"
#include "operators/operators.hpp"

#include <algorithm>

namespace hstujit::flash_attn {
namespace {

namespace fields = flash_attention;

/// Where the dimensions of the tensors stand.
struct Dims {
  int batch, head, row;
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

}  // namespace

void write_facts(ConfigText& text, const Problem& p) {
  const auto offset = static_cast<hstu_dtype>(p[fields::kOffsetDtype]);
  const bool jagged = offset != HSTU_DTYPE_NONE;
  text.type("Element", device_type(static_cast<hstu_dtype>(p[fields::kDtype])));
  text.type("Offset", device_type(jagged ? offset : HSTU_DTYPE_I32));
  text.type("Target", device_type(HSTU_DTYPE_I32));
  text.type("Mask", "variant::HstuMask<Config>");
  text.type("Sequences", jagged ? "variant::JaggedSequences<Config>" : "variant::DenseSequences<Config>");
  text.constant("kHeadDimQk", p[fields::kHeadDimQk]);
  text.constant("kHeadDimV", p[fields::kHeadDimV]);
  text.flag("kCausal", p[fields::kMask] == HSTU_MASK_CAUSAL);
  for (const char* absent :
       {"kLocal", "kHasTargets", "kTargetGroups", "kContextual", "kMaxAttnLen", "kMinFullAttn", "kAttnScale", "kSilu"})
    text.flag(absent, false);
  text.flag("kSoftmax", true);
  text.flag("kLse", p[fields::kLse] != 0);
  text.flag("kBias", false);
}

Extents extents_of(const hstu_flash_attention_args& a) {
  if (present(a.seq_offsets)) {
    const int64_t rows = std::min(a.max_seq_len, a.q.shape[0]);
    return {a.seq_offsets.shape[0] - 1, a.q.shape[1], rows, rows, 2};
  }
  return {a.q.shape[0], a.q.shape[1], a.q.shape[2], a.k.shape[2], 3};
}

void fill(hstu::AttnFwdParams& k, const hstu_flash_attention_args& a, const Extents& extents) {
  const bool jagged = present(a.seq_offsets);
  set_tensors(k, a, jagged ? Dims{-1, 1, 0} : Dims{0, 1, 2});
  k.seq_offsets = a.seq_offsets.data;
  k.batch = static_cast<int>(extents.batch);
  k.num_heads = static_cast<int>(extents.heads);
  const auto alpha = static_cast<float>(a.scale);
  k.half_alpha = alpha / 2;
  k.log2_alpha = attn_facts::log2_alpha(alpha);
  k.queries = static_cast<int>(jagged ? 0 : a.q.shape[2]);
  k.keys = static_cast<int>(jagged ? 0 : a.k.shape[2]);
}

}  // namespace hstujit::flash_attn
