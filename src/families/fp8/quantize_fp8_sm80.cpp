// quantize_fp8_sm80: quantisation to FP8, bound by memory, kernels/fp8/quantize_fp8_sm80.cuh.
#include "families/families.hpp"
#include "families/fp8/fp8_elements.hpp"
#include "fp8/quantize_fp8.h"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/fp8/quantize_fp8.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace hstujit {
namespace {

enum : int { kThreads, kTeam, kAccesses, kVector, kKnobCount };

constexpr int32_t kThreadsValues[] = {128, 256, 512, 1024};
constexpr int32_t kTeamValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int32_t kAccessesValues[] = {1, 2, 4};
constexpr int32_t kVectorValues[] = {1, 2, 4, 8, 16};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner"},
    {"team", kTeamValues, "threads a unit: few keep more loads in flight each, many need fewer registers"},
    {"accesses", kAccessesValues, "loads in flight a thread; for a whole tensor only, a team's follow from its size"},
    {"vector", kVectorValues, "elements an access: 32 bytes of x make wider stores of q"},
};

constexpr int kMaxTeam = 1024, kMaxWords = 32;  // of x that a thread holds

/// A unit as the kernel sees it.
struct Facts {
  int64_t chunks = 0;  ///< of the configuration's vector
  int words = 0;       ///< of a chunk
  bool tensor = false;
  bool looped_anyway = false;  ///< a row that no team can hold
};

Facts facts_of(const Problem& p, int vector) {
  Facts f;
  const auto scaling = static_cast<hstu_fp8_scaling>(p[quantize_fp8::kScaling]);
  const int64_t columns = std::max(p[quantize_fp8::kColumns], 1);
  const fp8::Unit unit = fp8::unit_of(scaling, 1, columns);
  f.tensor = scaling == HSTU_FP8_TENSOR;
  f.chunks = ceil_div(unit.rows * unit.columns, vector);
  f.words = std::max(1, vector * size_of(static_cast<hstu_dtype>(p[quantize_fp8::kDtype])) / 4);
  f.looped_anyway = ceil_div(f.chunks, kMaxTeam) * f.words > kMaxWords;
  return f;
}
Facts facts_of(const Problem& p, const Config& c) { return facts_of(p, c[kVector]); }

int64_t held_words(const Facts& f, const Config& c) { return ceil_div(f.chunks, c[kTeam]) * f.words; }

bool vector_is_the_widest(const Problem& p, const Config& c, const DeviceFacts&) {
  return fp8_elements::vector_allowed(p[quantize_fp8::kVector], static_cast<hstu_dtype>(p[quantize_fp8::kDtype]),
                                      c[kVector]);
}
bool teams_divide_block(const Problem&, const Config& c, const DeviceFacts&) { return c[kTeam] <= c[kThreads]; }
bool tensors_have_no_team(const Problem& p, const Config& c, const DeviceFacts&) {
  return facts_of(p, c).tensor ? c[kTeam] == 1 : c[kAccesses] == 1;
}
bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kTeam] == 1 || facts_of(p, c).chunks > c[kTeam] / 2;
}
bool unit_is_held(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p, c);
  if (f.tensor) return c[kAccesses] * f.words <= kMaxWords;
  return f.looped_anyway ? c[kTeam] == c[kThreads] && c[kTeam] >= 512 : held_words(f, c) <= kMaxWords;
}
bool large_blocks_have_one_team(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreads] <= 512 || c[kTeam] == c[kThreads];
}

constexpr Rule kRules[] = {
    {"an access must be as wide as alignment allows, or half of it", vector_is_the_widest},
    {"threads must be a multiple of team", teams_divide_block},
    {"team is for units within the tensor, accesses for the tensor as a whole", tensors_have_no_team},
    {"half of the team's threads would hold nothing", no_idle_half},
    {"a thread holds at most 128 bytes; longer rows are read twice by whole blocks of 512 threads or more",
     unit_is_held},
    {"blocks beyond 512 threads only where one unit needs them", large_blocks_have_one_team},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// Measured on an H200: 32 bytes a thread suffice where there are many small units, blocks want few threads.
Config default_config(const Problem& p, const DeviceFacts&) {
  Config c;
  c[kThreads] = 256;
  c[kTeam] = c[kAccesses] = 1;
  c[kVector] = p[quantize_fp8::kVector];
  Facts f = facts_of(p, c);
  if (f.tensor) {
    if (f.words == 8) c[kVector] /= 2;
    c[kAccesses] = 2;
    return c;
  }
  const bool block = p[quantize_fp8::kScaling] == HSTU_FP8_BLOCK;
  for (int64_t words = block ? kMaxWords : 8; words <= kMaxWords; words *= 2) {
    const int64_t team = ceil_div(f.chunks, std::max<int64_t>(words / f.words, 1));
    c[kTeam] = static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(team, kMaxTeam))));
    if (c[kTeam] <= 256 && !f.looped_anyway) break;
  }
  if (f.looped_anyway) c[kTeam] = kMaxTeam;
  c[kThreads] = std::max(c[kThreads], c[kTeam]);
  return c;
}

int smem_bytes(const Problem& p, const Config& c) {
  return !facts_of(p, c).tensor && c[kTeam] > 32 ? c[kThreads] / 32 * 4 : 0;
}

Resources resources(const Problem& p, const Config& c) {
  const Facts f = facts_of(p, c);
  const int64_t held = f.tensor ? c[kAccesses] * f.words : f.looped_anyway ? f.words : held_words(f, c);
  return {c[kThreads], smem_bytes(p, c), static_cast<int>(12 + held), 1};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[quantize_fp8::kDtype])));
  text.type("Fp8", device_type(static_cast<hstu_dtype>(p[quantize_fp8::kFp8])));
  text.constant("kScaling", p[quantize_fp8::kScaling]);
  text.constant("kColumns", p[quantize_fp8::kColumns]);
  text.flag("kStatic", p[quantize_fp8::kStatic] != 0);
  text.flag("kPowerOfTwo", p[quantize_fp8::kPowerOfTwo] != 0);
  text.constant("kThreads", c[kThreads]);
  text.constant("kTeam", c[kTeam]);
  text.constant("kAccesses", c[kAccesses]);
  text.constant("kVector", c[kVector]);
  text.constant("kMinBlocks", 1);
}

/// Blocks for the matrix: a tensor without elements still has a scale to write.
int64_t blocks_of(const hstu_quantize_fp8_args& a, const Config& c) {
  const int64_t rows = a.x.shape[0], columns = a.x.shape[1];
  if (a.scaling == HSTU_FP8_TENSOR)
    return std::max<int64_t>(ceil_div(rows * columns, int64_t{c[kThreads]} * c[kAccesses] * c[kVector]), 1);
  int64_t units = a.descale.shape[0];
  if (a.descale.rank == 2) units *= a.descale.shape[1];
  return ceil_div(units, c[kThreads] / c[kTeam]);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_quantize_fp8_args*>(args);
  launch.grid[0] = static_cast<uint32_t>(blocks_of(a, config));
  launch.block[0] = static_cast<uint32_t>(config[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, config));
  auto& p = launch.emplace<hstu::QuantizeFp8Params>();
  p.x = a.x.data;
  p.q = a.q.data;
  p.descale = static_cast<float*>(a.descale.data);
  p.amax = static_cast<const float*>(a.amax.data);
  p.static_descale = static_cast<const float*>(a.static_descale.data);
  p.rows = a.x.shape[0];
  p.x_row_stride = a.x.stride[0];
  p.q_row_stride = a.q.stride[0];
  p.descale_row_stride = fp8::row_stride(a.descale, a.scaling);
  p.descale_column_stride = fp8::column_stride(a.descale, a.scaling);
  p.amin = a.amin + 0.0f;  // an exact zero without its sign, for magnitudes are compared as bits
  p.amax_bound = a.amax_bound;
}

}  // namespace

const Family kQuantizeFp8Sm80 = {
    .name = "quantize_fp8_sm80",
    .room = "fp8",
    .op = Op::quantize_fp8,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "quantize_fp8_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
