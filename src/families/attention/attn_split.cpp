#include "families/attention/attn_split.hpp"

#include "families/attention/attn_grid.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/attention_checks.hpp"
#include "operators/attention/cache_pages.hpp"
#include "operators/attention/new_rows.hpp"

#include <algorithm>

namespace hstujit::attn_split {
namespace {

enum : int { kRowsPerWarp, kRowWarps, kKeyGroups, kBlockN, kStages, kMinBlocks };

constexpr int32_t kRowsPerWarpValues[] = {16, 32};
constexpr int32_t kRowWarpsValues[] = {1, 2, 4, 8};
constexpr int32_t kKeyGroupsValues[] = {1, 2, 4, 8};
constexpr int32_t kBlockNValues[] = {16, 32, 64};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kMinBlocksValues[] = {1, 2};

int padded(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }
int block_m(const Config& c) { return c[kRowsPerWarp] * c[kRowWarps]; }
int warps(const Config& c) { return c[kRowWarps] * c[kKeyGroups]; }

int smem_bytes(const Problem& p, const Config& c) {
  const Facts f = facts_of(p);
  const int qk = padded(f.head_dim_qk), v = padded(f.head_dim_v);
  const int ring = 2 * (block_m(c) * qk + c[kKeyGroups] * c[kStages] * c[kBlockN] * (qk + v));
  const int sums = std::max(c[kKeyGroups] / 2, 1) * block_m(c) * v * 4;
  return std::max(ring, sums) + 512 + 32 * f.intervals;  // the tile's description
}

/// Accumulators of O, and of S for 16 keys with its P, per thread.
int held_registers(const Problem& p, const Config& c) {
  return c[kRowsPerWarp] / 16 * (padded(facts_of(p).head_dim_v) / 2 + 12);
}

bool four_or_eight_warps(const Problem&, const Config& c, const DeviceFacts&) { return warps(c) == 4 || warps(c) == 8; }
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  // Addresses, fragments, masks; more for several fragments of keys a step, for element-wise copies, for the places of
  // a bias, and for groups of targets.
  const Facts f = facts_of(p);
  const int usual = c[kRowsPerWarp] == 32 ? 84 : c[kBlockN] > 16 ? 56 : 52;
  const int others = usual + (f.vector == 8 ? 0 : 16) + (f.bias ? 16 : 0) + (f.target_groups ? 8 : 0);
  return held_registers(p, c) + others <= register_budget(c[kMinBlocks], warps(c) * 32);
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
bool rows_are_there(const Problem& p, const Config& c, const DeviceFacts& device) {
  // Of few rows, wide heads do not fit a device of 100 KB: four groups of keys, of 16 rows. Two, of 32 rows, do.
  const bool few_fit = smem_holds(device, 1, smem_bytes(p, {{16, 1, 4, 16, 2, 1}}));
  return block_m(c) <= std::max(few_fit ? 16 : 32, facts_of(p).rows);
}

constexpr Rule kAllRules[] = {
    {"a block has four or eight warps", four_or_eight_warps},
    {"accumulators would not fit the registers", registers_suffice},
    {"the tiles of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"more rows a block than a sequence has queries", rows_are_there},
};

std::string_view integer_type(hstu_dtype dtype) {
  return device_type(dtype == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : dtype);
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"rows_per_warp", kRowsPerWarpValues, "32 rows halve the shared-memory reads of K and V"},
    {"row_warps", kRowWarpsValues, "query rows a block: more share K and V, fewer waste less where queries are few"},
    {"key_groups", kKeyGroupsValues, "parts of the block that take different keys: more copies under way"},
    {"block_n", kBlockNValues, "keys a group takes at a time"},
    {"stages", kStagesValues, "K and V tiles of a group in flight"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one begins and ends beside another's copies"},
};
const std::span<const Rule> kRules = kAllRules;

Facts facts_of(const Problem& p) {
  const auto dtype = [&](int field) { return static_cast<hstu_dtype>(p[field]); };
  if (p.op == Op::attention) {
    namespace a = attention;
    return {dtype(a::kDtype),
            dtype(a::kOffsetDtype),
            dtype(a::kOffsetDtype),
            dtype(a::kTargetDtype),
            HSTU_DTYPE_NONE,
            p[a::kHeadDimQk],
            p[a::kHeadDimV],
            0,
            p[a::kMask],
            p[a::kIntervals],
            p[a::kVector],
            p[a::kContextual] != 0,
            p[a::kMaxAttnLen] != 0,
            p[a::kMinFullAttn] != 0,
            p[a::kTargetGroups] != 0,
            p[a::kAttnScale] != 0,
            p[a::kAttnScale] == attention_checks::kOneScale,
            p[a::kRab] != 0,
            p[a::kMaxSeqLen]};
  }
  namespace d = delta_attention;
  return {dtype(d::kDtype),
          dtype(d::kOffsetDtype),
          dtype(d::kQOffsetDtype),
          dtype(d::kTargetDtype),
          dtype(d::kPageDtype),
          p[d::kHeadDimQk],
          p[d::kHeadDimV],
          p[d::kPageSize],
          p[d::kMask],
          p[d::kIntervals],
          p[d::kVector],
          p[d::kContextual] != 0,
          p[d::kMaxAttnLen] != 0,
          p[d::kMinFullAttn] != 0,
          p[d::kTargetGroups] != 0,
          p[d::kAttnScale] != 0,
          p[d::kAttnScale] == attention_checks::kOneScale,
          p[d::kRab] != 0,
          p[d::kMaxQLen]};
}

bool covers(const Problem& p, const DeviceFacts&) { return is_16_bit(facts_of(p).element); }

/// Measured best on an H200 at head dim 128, by queries a sequence; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const Config many[] = {
      {{32, 4, 2, 32, 3, 1}}, {{32, 4, 2, 32, 2, 1}}, {{16, 8, 1, 64, 2, 1}}, {{16, 8, 1, 32, 2, 1}}};
  const Config some[] = {{{32, 2, 4, 16, 3, 1}},
                         {{32, 2, 4, 16, 2, 1}},
                         {{16, 4, 2, 32, 2, 1}},
                         {{16, 4, 2, 16, 2, 1}},
                         {{16, 4, 1, 16, 2, 1}}};
  const Config few[] = {{{16, 2, 4, 16, 3, 2}}, {{32, 1, 8, 16, 3, 1}}, {{32, 1, 8, 16, 2, 1}}, {{16, 2, 4, 16, 3, 1}},
                        {{16, 2, 4, 16, 2, 1}}, {{16, 2, 2, 16, 3, 1}}, {{16, 2, 2, 16, 2, 1}}};
  const Config biased[] = {{{16, 2, 4, 32, 2, 1}}};  // the places of a bias want the registers of another block
  const Config one[] = {{{16, 1, 4, 16, 3, 2}}, {{16, 1, 8, 16, 2, 1}}, {{16, 1, 4, 16, 3, 1}}, {{16, 1, 4, 16, 2, 1}}};
  const auto fits = [&](const Config& c) { return legal(kRules, p, c, device); };
  for (const std::span<const Config> candidates :
       {std::span<const Config>(many), {some}, facts_of(p).bias ? std::span<const Config>(biased) : few, {few}})
    if (const auto found = std::find_if(candidates.begin(), candidates.end(), fits); found != candidates.end())
      return *found;
  return first_legal(one, kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  return {warps(c) * 32, smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_facts(ConfigText& text, const Problem& p) {
  const Facts f = facts_of(p);
  text.type("Element", device_type(f.element));
  text.type("Offset", integer_type(f.offset));
  text.type("QOffset", integer_type(f.q_offset));
  text.type("Target", integer_type(f.target));
  text.type("Page", integer_type(f.page));
  text.type("Mask", f.intervals > 0 ? "variant::IntervalMask<Config>" : "variant::HstuMask<Config>");
  text.constant("kHeadDimQk", f.head_dim_qk);
  text.constant("kHeadDimV", f.head_dim_v);
  text.flag("kVectorIo", f.vector == 8);
  text.flag("kJaggedQ", f.q_offset != HSTU_DTYPE_NONE);
  text.constant("kPageSize", f.page_size);
  text.flag("kCausal", f.mask == HSTU_MASK_CAUSAL);
  text.flag("kLocal", f.mask == HSTU_MASK_LOCAL);
  text.constant("kIntervals", f.intervals);
  text.flag("kHasTargets", f.target != HSTU_DTYPE_NONE);
  text.flag("kTargetGroups", f.target_groups);
  text.flag("kContextual", f.contextual);
  text.flag("kMaxAttnLen", f.max_attn_len);
  text.flag("kMinFullAttn", f.min_full_attn);
  text.flag("kAttnScale", f.attn_scale);
  text.flag("kSoftmax", false);
  text.flag("kBias", f.bias);
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  write_facts(text, p);
  text.constant("kRowsPerWarp", c[kRowsPerWarp]);
  text.constant("kRowWarps", c[kRowWarps]);
  text.constant("kKeyGroups", c[kKeyGroups]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kMinBlocks", c[kMinBlocks]);
}

template <class Args>
void fill(hstu::AttnSplitParams& p, const Args& a, const Problem& problem, int64_t batch) {
  const Facts facts = facts_of(problem);
  p.q = a.q.data;
  p.k = a.k.data;
  p.v = a.v.data;
  p.out = a.out.data;
  p.num_targets = a.mask.num_targets.data;
  p.attn_scale = static_cast<const float*>(a.attn_scale.data);
  p.intervals = a.mask.intervals.data;
  p.q_row_stride = a.q.stride[0], p.q_head_stride = a.q.stride[1];
  p.k_row_stride = a.k.stride[0], p.k_head_stride = a.k.stride[1];
  p.v_row_stride = a.v.stride[0], p.v_head_stride = a.v.stride[1];
  p.out_row_stride = a.out.stride[0], p.out_head_stride = a.out.stride[1];
  p.intervals_head_stride = a.mask.intervals.shape[0] == 1 ? 0 : a.mask.intervals.stride[0];
  p.intervals_bound_stride = a.mask.intervals.stride[1];
  p.batch = static_cast<int>(batch);
  p.num_heads = static_cast<int>(a.q.shape[1]);
  p.heads_per_kv = 1;
  p.half_alpha = a.alpha / 2;
  p.scale = 1.0f / static_cast<float>(a.scaling_seqlen);
  p.attn_scale_stride = facts.attn_scale && !facts.one_scale;
  p.contextual_seq_len = static_cast<int>(a.mask.contextual_seq_len);
  p.max_attn_len = static_cast<int>(a.mask.max_attn_len);
  p.min_full_attn_seq_len = static_cast<int>(a.mask.min_full_attn_seq_len);
  p.target_group_size = static_cast<int>(a.mask.target_group_size);
  p.window_left = static_cast<int>(a.mask.window_left);
  p.window_right = static_cast<int>(a.mask.window_right);
  p.num_contexts = a.mask.num_contexts.data;
  p.wide_contexts = a.mask.num_contexts.dtype == HSTU_DTYPE_I64;
  p.rab = a.rab.data;
  p.rab_positions = static_cast<int>(a.rab.shape[2]);
  p.rab_batch_stride = a.rab.stride[0], p.rab_head_stride = a.rab.shape[1] == 1 ? 0 : a.rab.stride[1];
  p.rab_row_stride = a.rab.stride[2];
}

void fill_cache(hstu::AttnSplitParams& p, const hstu_delta_attention_args& a, const Problem& problem) {
  p.seq_offsets = a.seq_offsets.data;
  p.q_offsets = a.q_offsets.data;
  p.delta = static_cast<int>(a.max_q_len);
  p.heads_per_kv = problem[delta_attention::kHeadsPerKv];
}

void fill_cache(hstu::AttnSplitParams& p, const hstu_paged_attention_args& a, const Problem& problem) {
  p.k_cache = a.k_cache.data;
  p.v_cache = a.v_cache.data;
  p.page_offsets = a.page_offsets.data;
  p.page_ids = a.page_ids.data;
  p.last_page_lens = a.last_page_lens.data;
  p.q_offsets = a.q_offsets.data;
  p.k_page_stride = a.k_cache.stride[0], p.v_page_stride = a.v_cache.stride[0];
  p.k_slot_stride = a.k_cache.stride[1], p.v_slot_stride = a.v_cache.stride[1];
  p.page_rows = static_cast<int>(cache_pages::page_rows(a.k_cache, a.v_cache));
  p.k_cache_head_stride = a.k_cache.stride[2], p.v_cache_head_stride = a.v_cache.stride[2];
  p.delta = static_cast<int>(a.max_q_len);
  p.heads_per_kv = problem[delta_attention::kHeadsPerKv];
}

template <class Args>
hstu::AttnSplitParams* bind(const Args& a, const Problem& problem, const Config& c, int64_t rows, Launch& launch) {
  const int64_t batch = batch_of(a), pairs = batch * a.q.shape[1];
  rows = std::min(rows, a.q.shape[0]);
  const int row_blocks = attn_grid::set(launch, pairs, rows, block_m(c), warps(c) * 32, smem_bytes(problem, c));
  if (row_blocks == 0) return nullptr;
  auto& p = launch.emplace<hstu::AttnSplitParams>();
  fill(p, a, problem, batch);
  p.row_blocks = row_blocks;
  return &p;
}

template void fill(hstu::AttnSplitParams&, const hstu_attention_args&, const Problem&, int64_t);
template void fill(hstu::AttnSplitParams&, const hstu_delta_attention_args&, const Problem&, int64_t);
template void fill(hstu::AttnSplitParams&, const hstu_paged_attention_args&, const Problem&, int64_t);
template hstu::AttnSplitParams* bind(const hstu_attention_args&, const Problem&, const Config&, int64_t, Launch&);
template hstu::AttnSplitParams* bind(const hstu_delta_attention_args&, const Problem&, const Config&, int64_t, Launch&);
template hstu::AttnSplitParams* bind(const hstu_paged_attention_args&, const Problem&, const Config&, int64_t, Launch&);

}  // namespace hstujit::attn_split
