// attn_fwd_sm80: jagged HSTU attention with the instructions of sm_80, kernels/attention/attn_fwd_sm80.cuh.
#include "attention/attn_fwd.h"
#include "families/attention/attn_facts.hpp"
#include "families/attention/attn_space.hpp"
#include "families/families.hpp"
#include "operators/attention/attention.hpp"

#include <algorithm>

namespace hstujit {
namespace {

/// Registers that options take, beside the sums of softmax. Element-wise copies are allowed so many that these fit,
/// too.
int32_t spare_registers(const Problem& p) {
  if (p[attention::kVector] != 8) return 0;
  const bool mixed = p[attention::kSoftmaxHeads] == attention_extras::kSomeSoftmax, bias = p[attention::kRab] != 0;
  const bool special = mixed || bias || p[attention::kIntervals] > 0 || p[attention::kTargetGroups] ||
                       p[attention::kMask] == HSTU_MASK_LOCAL;
  const int kinds =
      attn_space::panel_kinds(p[attention::kHeadDimQk]) + attn_space::panel_kinds(p[attention::kHeadDimV]);
  return special ? (mixed ? 16 : 0) + (bias ? 16 : 0) + 6 * (kinds - 2) : 0;
}

attn_space::Shape shape_of(const Problem& p) {
  return {.head_dim_qk = p[attention::kHeadDimQk],
          .head_dim_v = p[attention::kHeadDimV],
          .vector = p[attention::kVector] == 8,
          .softmax = p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax,
          .intervals = p[attention::kIntervals],
          .spare = spare_registers(p)};
}

bool covers(const Problem& p, const DeviceFacts&) {
  return is_16_bit(p[attention::kDtype]) && p[attention::kMoments] == 0;
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Mask", p[attention::kIntervals] > 0 ? "variant::IntervalMask<Config>" : "variant::HstuMask<Config>");
  text.type("Sequences", "variant::JaggedSequences<Config>");
  text.type("Keys", "tile::KeyRows<Config>");
  attn_facts::write(text, p);
  text.flag("kVectorIo", p[attention::kVector] == 8);
  attn_space::write_knobs(text, c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  const int64_t pairs = (a.seq_offsets.shape[0] - 1) * a.q.shape[1];
  const int64_t rows = std::min(a.max_seq_len, a.q.shape[0]);
  const int row_blocks = attn_space::set_grid(launch, shape_of(p), c, pairs, rows);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  attn_facts::fill(k, a, p);
  const int64_t bytes = pairs * rows * (a.q.shape[2] + a.v.shape[2]) * size_of(a.q.dtype);
  attn_facts::set_order(k, attn_space::block_m(c), rows, row_blocks, attn_space::section_pairs(pairs, bytes, device),
                        device);
}

}  // namespace

const Family kAttnFwdSm80 = attn_space::family<shape_of>("attn_fwd_sm80", Op::attention, covers, write_config, bind);

}  // namespace hstujit
