// attn_bwd_f32_sm80: gradients of jagged HSTU attention in f32, kernels/attention/attn_bwd_f32_sm80.cuh.
#include "families/attention/attn_bwd.hpp"
#include "families/attention/attn_facts.hpp"
#include "families/families.hpp"
#include "operators/attention/attention_backward.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace key = attention_backward;
enum : int { kBlockN, kApart, kMinBlocks };

constexpr int32_t kBlockNValues[] = {8, 16, 32};
constexpr int32_t kApartValues[] = {0, 1};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3};
constexpr int kThreads = 128, kOwn = 32;  // of the kernel

constexpr Knob kKnobs[] = {
    {"block_n", kBlockNValues, "rows a step: fewer barriers, for shared memory and registers"},
    {"apart", kApartValues, "dk and dv at places of their own: scores once more, for half of the sums"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one loads beside another's products"},
};

int padded(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }

int smem_bytes(const Problem& p, const Config& c) {
  const int pitches = padded(p[key::kHeadDimQk]) + 4 + padded(p[key::kHeadDimV]) + 4, n = c[kBlockN];
  return 4 * ((kOwn + n) * pitches + 2 * kOwn * (n + 4) + 3 * n) + 128;
}

/// Sums of the thread's columns, of dk and dv or of dq, and its pairs' scores and dP.
int held_registers(const Problem& p, const Config& c) {
  const int qk = p[key::kHasDq] || p[key::kHasDk] ? padded(p[key::kHeadDimQk]) / 4 : 0;
  const int v = p[key::kHasDv] ? padded(p[key::kHeadDimV]) / 4 : 0;
  return (c[kApart] ? std::max(qk, v) : qk + v) + c[kBlockN] / 2;
}

/// What options take beside addresses, operands and a simple mask, as the compiler's log has it.
int option_registers(const Problem& p) {
  const bool mixed = p[key::kSoftmaxHeads] == attention_extras::kSomeSoftmax;
  return 24 * (p[key::kRab] != 0) + 24 * p[key::kHasDattnScale] + 4 * (p[key::kDrab] != 0) + 8 * mixed +
         (p[key::kMaxAttnLen] || p[key::kTargetGroups] ? 8 : 0);
}

bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
/// Beside what is held: addresses, operands and the mask.
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  return held_registers(p, c) + 64 + c[kBlockN] / 2 + option_registers(p) <= register_budget(c[kMinBlocks], kThreads);
}
bool both_are_wanted(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kApart] == 0 || attn_bwd::are_both_of_keys_wanted(p);
}

constexpr Rule kRules[] = {
    {"the tiles of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"the sums would not fit the registers", registers_suffice, true},
    {"there is nothing to be apart unless dk and dv are both wanted", both_are_wanted},
};

bool covers(const Problem& p, const DeviceFacts&) {
  return p[key::kDtype] == HSTU_DTYPE_F32 && attn_bwd::is_anything_wanted(p);
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  for (const Config& c : {Config{{16, 0, 2}}, Config{{16, 0, 1}}, Config{{8, 0, 1}}})
    if (smem_fits(p, c, device) && registers_suffice(p, c, device)) return c;
  return {{8, attn_bwd::are_both_of_keys_wanted(p), 1}};
}

Resources resources(const Problem& p, const Config& c) {
  return {kThreads, smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_facts::write_backward(text, p);
  text.flag("kApart", c[kApart] != 0);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kMinBlocks", c[kMinBlocks]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  attn_bwd::bind(
      *static_cast<const hstu_attention_backward_args*>(args), p,
      {.own = kOwn, .walk = c[kBlockN], .apart = c[kApart] != 0, .threads = kThreads, .smem_bytes = smem_bytes(p, c)},
      device, launch);
}

}  // namespace

const Family kAttnBwdF32Sm80 = {
    .name = "attn_bwd_f32_sm80",
    .room = "attention",
    .op = Op::attention_backward,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_bwd_f32_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnBwdParams, counters),
};

}  // namespace hstujit
