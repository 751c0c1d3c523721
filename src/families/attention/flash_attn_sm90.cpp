// flash_attn_sm90: softmax attention with TMA and warpgroup products, kernels/attention/flash_attn_sm90.cuh.
#include "attention/attn_fwd_sm90.h"
#include "families/attention/attn90.hpp"
#include "families/attention/flash_attn.hpp"
#include "families/families.hpp"
#include "operators/attention/flash_attention.hpp"
#include "operators/operators.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace fields = flash_attention;

using attn90::kConsumers;
enum : int { kTurns = attn90::kSharedKnobs };

constexpr int32_t kConsumersValues[] = {1, 2, 3};
constexpr int32_t kBlockNValues[] = {48, 64, 80, 96, 112, 128, 144, 160, 192};
constexpr int32_t kStagesValues[] = {2, 3, 4, 6};
constexpr int32_t kQStepsValues[] = {0, 4, 8};
constexpr int32_t kTurnsValues[] = {0, 1};
constexpr Knob kKnobs[] = {
    {"consumers", kConsumersValues, "warpgroups of 64 query rows: more share each K and V tile"},
    {"block_n", kBlockNValues, "keys a step: long products, for registers and masked waste"},
    {"stages", kStagesValues, "K and V tiles in flight"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers: less shared memory is read, which costs power"},
    {"turns", kTurnsValues, "warpgroups issue their products in turns: one's softmax runs beside the others' products"},
};

attn90::Shape shape_of(const Problem& p, const Config&) {
  return {.head_dim_qk = p[fields::kHeadDimQk], .head_dim_v = p[fields::kHeadDimV]};
}

/// Maxima, sums, rows, places, descriptors; with less to spare the compiler needs more room.
int other_registers(const Problem&, const Config& c) { return c[kConsumers] == 3 ? 40 : 36; }

bool turns_need_others(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kTurns] == 0 || c[kConsumers] > 1;
}

constexpr Rule kRules[] = {
    attn90::kTilesFit<shape_of>,
    attn90::kRegistersSuffice<shape_of, other_registers>,
    attn90::kQFitsItsSteps<shape_of>,
    {"a single consumer has nobody to take turns with", turns_need_others},
};

bool covers(const Problem& p, const DeviceFacts& device) {
  return device.compute_capability == 90 && is_16_bit(p[fields::kDtype]) && p[fields::kVector] == 8;
}

/// Measured best on an H200 for head dims 64 and 128; others take what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t q_steps = attn90::q_steps_up_to(8, kQStepsValues, shape_of(p, {}));
  // Of short rows a larger part is masked, chunk by chunk, where turns only wait.
  const bool is_short = p[fields::kMask] == HSTU_MASK_CAUSAL && p[fields::kKeys] <= 2048;
  const Config narrow = is_short && q_steps == 4 ? Config{{3, 64, 6, 4, 0}} : Config{{3, 96, 4, 0, 1}};
  const Config candidates[] = {
      {{2, 128, 2, q_steps, 0}}, {{2, 96, 2, 4, 0}}, {{2, 64, 2, 4, 0}}, {{2, 64, 2, 0, 0}}, {{2, 48, 2, 0, 0}},
  };
  const bool is_narrow = std::max(p[fields::kHeadDimQk], p[fields::kHeadDimV]) <= 64;
  return is_narrow && legal(kRules, p, narrow, device) ? narrow : first_legal(candidates, kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) { return attn90::resources(shape_of(p, c), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  flash_attn::write_facts(text, p);
  attn90::write_knobs(text, shape_of(p, c), c);
  text.flag("kTurns", c[kTurns] != 0);
}

/// Of a dense tensor [batch, heads, rows, columns] in boxes of 128 bytes x `rows`, with the rows of a head together.
TensorMapSpec dense_map(const hstu_tensor& t, int rows) {
  constexpr int kOrder[] = {3, 2, 1, 0};
  const auto element = static_cast<uint64_t>(size_of(t.dtype));
  TensorMapSpec spec;
  spec.base = t.data;
  spec.dtype = t.dtype;
  spec.rank = 4;
  for (int i = 0; i < 4; ++i) {
    spec.extent[i] = static_cast<uint64_t>(t.shape[kOrder[i]]);
    spec.box[i] = i == 0 ? static_cast<uint32_t>(128 / element) : i == 1 ? static_cast<uint32_t>(rows) : 1;
    // An extent of one needs no stride, but the map does.
    if (i > 0) spec.stride[i - 1] = spec.extent[i] > 1 ? static_cast<uint64_t>(t.stride[kOrder[i]]) * element : 16;
  }
  return spec;
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_flash_attention_args*>(args);
  const flash_attn::Extents extents = flash_attn::extents_of(a);
  const attn90::Shape s = shape_of(p, c);
  const int64_t pairs = extents.batch * extents.heads;
  const int row_blocks = attn90::set_grid(launch, s, c, pairs, extents.rows, device);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdSm90Params>();
  flash_attn::fill(k.attn, a, extents);
  k.attn.row_blocks = row_blocks;
  k.attn.section_pairs = attn90::section_pairs(s, pairs, extents.keys, device);
  const auto map_of = present(a.seq_offsets) ? jagged_map : dense_map;
  attn90::encode_rows(a.q, a.out, c, k, map_of);
  // Without keys nothing is loaded, but a map must have rows.
  const bool keys = extents.keys > 0;
  attn90::encode_keys(keys ? a.k : a.q, keys ? a.v : a.q, c, k, map_of);
}

}  // namespace

const Family kFlashAttnSm90 = {
    .name = "flash_attn_sm90",
    .room = "attention",
    .op = Op::flash_attention,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "flash_attn_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnFwdSm90Params, tile_counters),
};

}  // namespace hstujit
