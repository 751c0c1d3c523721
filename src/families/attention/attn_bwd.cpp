#include "families/attention/attn_bwd.hpp"

#include "families/attention/attn_facts.hpp"
#include "families/attention/attn_space.hpp"
#include "operators/attention/attention_backward.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::attn_bwd {
namespace {

namespace key = attention_backward;
constexpr int64_t kMostPlaces = (int64_t{1} << 29) - 1;  // of a kind: their sum is a grid
constexpr int64_t kMostCounted = 0xffff;                 // blocks of threads, by tile/last_blocks.cuh

/// Powers of two that keep 16-bit numbers in range. Slopes of f16 go down by 8, for gradients that are scaled up.
/// Weights with a scale of their own row go up by the root of the divisor, which that scale is about one over.
void set_ranges(hstu::AttnBwdParams& k, const hstu_attention_args& forward) {
  k.slope_down = forward.q.dtype == HSTU_DTYPE_F16 ? 0.125f : 1;
  k.slope_up = 1 / k.slope_down;
  const int root = std::ilogb(static_cast<double>(forward.scaling_seqlen)) / 2;
  k.weight_up = std::ldexp(1.0f, std::min(root, 16));
  k.weight_down = 1 / k.weight_up;
}

/// Blocks of `own` rows of the longest sequence, as far as `pairs` times as many are places.
int levels_of(int64_t rows, int own, int64_t pairs) {
  return static_cast<int>(std::clamp(ceil_div(rows, own), int64_t{1}, std::max(int64_t{1}, kMostPlaces / pairs)));
}

void set_row_places(hstu::AttnBwdParams& k, const hstu_attention_backward_args& a, const Problem& p, const Tiles& t) {
  const hstu_attention_args& f = a.forward;
  const int64_t batch = f.seq_offsets.shape[0] - 1, rows = std::min(f.max_seq_len, f.q.shape[0]);
  const int64_t pairs = batch * f.q.shape[1], kv_pairs = batch * f.k.shape[1];
  if (pairs == 0 || rows == 0) return;
  k.query_levels = levels_of(rows, t.own, pairs);
  k.key_levels = levels_of(rows, t.own, kv_pairs);
  const int key_places = static_cast<int>(kv_pairs) * k.key_levels;
  if (p[key::kHasDk] || p[key::kHasDv]) k.key_places = key_places;
  if (t.apart && are_both_of_keys_wanted(p)) k.value_places = key_places;
  if (p[key::kHasDq] || p[key::kHasDattnScale]) k.query_places = static_cast<int>(pairs) * k.query_levels;
}

/// Tiles lie whole numbers of tiles from the end of their sequence: the first and the last may hang over the table.
void set_bias_places(hstu::AttnBwdParams& k, const hstu_attention_backward_args& a, const Tiles& t) {
  if (!present(a.drab)) return;
  const int64_t positions = a.drab.shape[2];
  if (positions == 0) return;
  k.bias_tables = static_cast<int>(a.drab.shape[1]);
  k.bias_row_tiles = static_cast<int>(ceil_div(positions, t.own) + 1);
  k.bias_columns = static_cast<int>(ceil_div(positions, t.walk) + 1);
  k.bias_places = static_cast<int>(
      std::min<int64_t>(a.drab.shape[0] * k.bias_tables * k.bias_row_tiles * k.bias_columns, kMostPlaces));
}

}  // namespace

bool is_anything_wanted(const Problem& p) {
  return p[key::kHasDq] + p[key::kHasDk] + p[key::kHasDv] + p[key::kDrab] + p[key::kHasDattnScale] > 0;
}
bool are_both_of_keys_wanted(const Problem& p) { return p[key::kHasDk] && p[key::kHasDv]; }

void bind(const hstu_attention_backward_args& a, const Problem& p, const Tiles& t, const DeviceFacts& device,
          Launch& launch) {
  const hstu_attention_args& f = a.forward;
  auto& k = launch.emplace<hstu::AttnBwdParams>();
  attn_facts::fill(k, a, p);
  set_ranges(k, f);
  set_row_places(k, a, p, t);
  set_bias_places(k, a, t);
  const int64_t pairs = std::max<int64_t>((f.seq_offsets.shape[0] - 1) * f.q.shape[1], 1);
  const int64_t rows = std::min(f.max_seq_len, f.q.shape[0]);
  const int64_t bytes = 2 * pairs * rows * (f.q.shape[2] + f.v.shape[2]) * size_of(f.q.dtype);
  k.forward.section_pairs = attn_space::section_pairs(pairs, bytes, device);
  const int64_t places = int64_t{k.key_places} + k.value_places + k.query_places + k.bias_places;
  const bool counted = p[key::kHasDattnScale] != 0;  // then one block at least, which writes sums of nothing
  launch.grid[0] = static_cast<uint32_t>(counted ? std::clamp(places, int64_t{1}, kMostCounted) : places);
  launch.block[0] = static_cast<uint32_t>(t.threads);
  launch.smem_bytes = static_cast<uint32_t>(t.smem_bytes);
}

}  // namespace hstujit::attn_bwd
