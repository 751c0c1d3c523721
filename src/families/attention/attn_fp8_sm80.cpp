// attn_fp8_sm80: jagged HSTU attention of e4m3 tensors, dequantised as they are loaded, with the instructions of sm_80,
// kernels/attention/attn_fp8_sm80.cuh.
#include "attention/attn_fwd.h"
#include "families/attention/attn_facts.hpp"
#include "families/attention/attn_space.hpp"
#include "families/families.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/attention_fp8.hpp"

#include <algorithm>

namespace hstujit {
namespace {

attn_space::Shape shape_of(const Problem& p) {
  return {.head_dim_qk = p[attention::kHeadDimQk],
          .head_dim_v = p[attention::kHeadDimV],
          .vector = false,
          .softmax = false,
          .intervals = p[attention::kIntervals],
          .spare = 16};
}

bool covers(const Problem&, const DeviceFacts&) { return true; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Mask", p[attention::kIntervals] > 0 ? "variant::IntervalMask<Config>" : "variant::HstuMask<Config>");
  text.type("Sequences", "variant::JaggedSequences<Config>");
  text.type("Keys", "tile::Fp8KeyRows<Config>");
  text.type("Element", device_type(static_cast<hstu_dtype>(p[attention::kDtype])));
  attn_facts::write_fp8(text, p);
  text.flag("kVectorIo", p[attention_fp8::kVectorOut] == 8);
  text.flag("kVectorIn", p[attention::kVector] >= 8);
  text.flag("kBlockScales", p[attention_fp8::kScaling] == HSTU_FP8_ATTENTION_BLOCK);
  attn_space::write_knobs(text, c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_fp8_args*>(args);
  const int64_t pairs = (a.seq_offsets.shape[0] - 1) * a.q.shape[1];
  const int64_t rows = std::min(a.max_seq_len, a.q.shape[0]);
  const int row_blocks = attn_space::set_grid(launch, shape_of(p), c, pairs, rows);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  attn_facts::fill(k, a, p);
  const int64_t bytes = pairs * rows * (a.q.shape[2] + a.v.shape[2]);
  attn_facts::set_order(k, attn_space::block_m(c), rows, row_blocks, attn_space::section_pairs(pairs, bytes, device),
                        device);
}

}  // namespace

const Family kAttnFp8Sm80 =
    attn_space::family<shape_of>("attn_fp8_sm80", Op::attention_fp8, covers, write_config, bind);

}  // namespace hstujit
