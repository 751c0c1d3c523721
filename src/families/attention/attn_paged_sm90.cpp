// attn_paged_sm90: attention of new rows against a cache in pages with TMA and warpgroup products,
// kernels/attention/attn_paged_sm90.cuh.
#include "attention/attn_paged_sm90.h"

#include "families/attention/attn_delta90.hpp"
#include "families/families.hpp"
#include "operators/attention/new_rows.hpp"
#include "operators/operators.hpp"

namespace hstujit {
namespace {

/// Keys of a piece that a copy takes from a page: a power of two that divides pages and blocks of keys.
int piece_rows(const Problem& p, const Config& c) {
  const int both = p[delta_attention::kPageSize] | c[attn90::kBlockN];
  return both & -both;
}

bool covers(const Problem& p, const DeviceFacts& device) {
  using namespace delta_attention;
  constexpr int kLeastPiece = 16;
  return p[kPageSize] % kLeastPiece == 0 && p[kPageGaps] == 0 && attn_delta90::covers(p, device);
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_delta90::write_config(text, p, c);
  text.constant("kPieceRows", piece_rows(p, c));
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_paged_attention_args*>(args);
  auto* k = attn_delta90::bind<hstu::AttnPagedSm90Params>(a, p, c, device, launch);
  if (!k) return;
  // Without pages nothing is loaded, but a map must have rows.
  const int rows = piece_rows(p, c);
  const bool pages = a.k_cache.shape[0] > 0;
  encode_tensor_map(pages ? paged_map(a.k_cache, rows) : jagged_map(a.q, rows), k->k.pages);
  encode_tensor_map(pages ? paged_map(a.v_cache, rows) : jagged_map(a.q, rows), k->v.pages);
  if (p[delta_attention::kRab] != 0) attn90::encode_bias(a.rab, c, *k);
  if (!present(a.mask.num_targets)) return;
  encode_tensor_map(jagged_map(a.k, c[attn90::kBlockN]), k->k.new_rows);
  encode_tensor_map(jagged_map(a.v, c[attn90::kBlockN]), k->v.new_rows);
}

}  // namespace

const Family kAttnPagedSm90 = {
    .name = "attn_paged_sm90",
    .room = "attention",
    .op = Op::paged_attention,
    .min_compute_capability = 90,
    .knobs = attn_delta90::kKnobs,
    .rules = attn_delta90::kRules,
    .covers = covers,
    .default_config = attn_delta90::default_config,
    .resources = attn_delta90::resources,
    .write_config = write_config,
    .smem_expression = "attn_paged_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnPagedSm90Params, tile_counters),
};

}  // namespace hstujit
