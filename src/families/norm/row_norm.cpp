#include "families/norm/row_norm.hpp"

#include "norm/row_norm.h"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace hstujit::row_norm {
namespace {

constexpr int kWarp = 32, kMaxThreads = 1024;
constexpr int64_t kMaxValues = 32;  // of all rows of a thread, inputs counted: kMaxValuesPerRow of the kernel
constexpr int kRegisters = 65536;   // of an SM

constexpr int64_t kLargeInput = int64_t{1} << 27;  // bytes from which a block's latency no longer shows

/// The longest row that is held: by 512 threads of kMaxValues, or 1024 of half as many.
int64_t longest_held(const Facts& f) { return 512 * (f.packable ? 2 : 1) * kMaxValues / f.inputs; }

constexpr int32_t kThreadsValues[] = {64, 128, 256, 512, 1024};
constexpr int32_t kThreadsPerRowValues[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int32_t kRowsPerThreadValues[] = {1, 2, 4, 8};
constexpr int32_t kPackedValues[] = {0, 1};
constexpr int32_t kWeightsValues[] = {kWeightsLate, kWeightsFirst, kWeightsShared};

/// 16-byte parts of weight and bias that each thread carries to shared memory.
int64_t weight_shares(const Facts& f, const Config& c) {
  return ceil_div(f.weight_vectors * f.length * f.weight_bytes / 16, c[kThreads]);
}

bool teams_divide_block(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] <= c[kThreads] && c[kThreads] % c[kThreadsPerRow] == 0;
}

bool no_idle_half(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kThreadsPerRow] == 1 || int64_t{c[kThreadsPerRow]} * f.vector < 2 * f.length;
}

bool values_fit(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  if (f.length > longest_held(f)) return true;  // looped
  const int64_t values = shape_of(f, c).values;
  if (f.in_turn && in_turn(f, c)) return values <= (c[kThreads] == kMaxThreads ? kMaxValues / 2 : kMaxValues);
  // Wide weights are unpacked beside the row: half as much fits into the 64 registers that 1024 threads have.
  if (c[kPacked]) return values * c[kRowsPerThread] <= (c[kThreads] == kMaxThreads ? kMaxValues : 2 * kMaxValues);
  const int64_t most =
      c[kThreads] == kMaxThreads ? kMaxValues / (f.inputs == 2 || f.weight_bytes == 4 ? 4 : 2) : kMaxValues / f.inputs;
  return values * c[kRowsPerThread] <= most;
}

bool long_rows_take_a_block(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  if (f.length <= longest_held(f)) return !shape_of(f, c).looped;
  return shape_of(f, c).looped && c[kThreadsPerRow] == c[kThreads] && c[kThreads] >= 256 && c[kRowsPerThread] == 1;
}

bool block_no_larger_than_needed(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kThreads] <= 256 || c[kThreads] == c[kThreadsPerRow];
}

bool weights_have_a_path(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kWeights] == kWeightsLate || (f.weights_per_column && f.length <= longest_held(f));
}

bool shared_weights_pay(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  if (c[kWeights] != kWeightsShared) return true;
  return f.vector * f.weight_bytes % 16 == 0 && shape_of(f, c).rows_per_block >= 2 && weight_shares(f, c) <= 2;
}

bool many_rows_take_turns(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kRowsPerThread] <= 4 || (f.in_turn && in_turn(f, c));
}

bool packed_rows_are_16_bit(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kPacked] == 0 || facts_of(p).packable;
}

bool scales_belong_to_parts_of_warps(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kThreadsPerRow] >= facts_of(p).least_team;
}

/// The next row on its way, of rows that are rotated one after the other: 16 bytes of each thread for an access to half
/// a pair or to a table of angles.
int ahead_bytes(const Facts& f, const Config& c) {
  if (!f.ahead || !in_turn(f, c)) return 0;
  const auto accesses = static_cast<int>(shape_of(f, c).accesses);
  const bool same_angles = accesses == 1 || c[kThreadsPerRow] % f.half_accesses == 0;
  return 2 * (accesses + (same_angles ? 1 : accesses)) * 16 * c[kThreads];
}

/// Dynamic shared memory: shares of the warps of a team, 16 bytes each, and weight and bias where they are shared.
int smem_bytes(const Facts& f, const Config& c) {
  const bool exchange = c[kThreadsPerRow] > kWarp || shape_of(f, c).looped;
  const int warps = c[kRowsPerThread] * c[kThreads] / kWarp;
  return (exchange ? warps * 16 : 0) + ahead_bytes(f, c) + (f.row_scales && c[kThreadsPerRow] > kWarp ? warps * 4 : 0) +
         (c[kWeights] == kWeightsShared ? static_cast<int>(f.weight_vectors * f.length * f.weight_bytes) : 0);
}

/// Blocks of an SM that the compiler must leave registers for. Left alone it gives a thread with 32 values and their
/// weights 80 registers, and large blocks then lack company: bf16 16384 x 16384 runs at 60 % of a copy, with 64
/// registers at 96 %. Elsewhere asking for residency spilled, or gained nothing.
/// Rows that are rotated on their way to FP8 get 72; 8 x 8192 x 4096 runs at 88 % of a copy, with 64 at 93 %.
/// Rows in turn to FP8 get 64 or 72, by which layer_norm gains 2 %.
/// Rows in turn, as stored, need 48; that is 1280 threads of an SM, and 3 % of a copy's rate more than 1024.
int min_blocks(const Facts& f, const Config& c) {
  if (f.rereads && in_turn(f, c))
    return f.element_bytes == 2 && f.weight_bytes == 2 && shape_of(f, c).values <= 16 ? 1280 / c[kThreads] : 1;
  if (f.rotated && in_turn(f, c))  // 7 blocks of 128, and 5 % more than 6 or, with spills, 8
    return f.compact && shape_of(f, c).values == kMaxValues ? std::max(1, kRegisters / (72 * c[kThreads])) : 1;
  if (in_turn(f, c))
    return f.element_bytes == 2 && f.weight_bytes == 2 && f.weight_vectors == 2 && shape_of(f, c).values <= 16 &&
                   c[kWeights] == kWeightsShared
               ? 1024 / c[kThreads]
               : 1;
  const bool tight = f.compact && c[kWeights] == kWeightsLate && shape_of(f, c).values == kMaxValues;
  const int least = f.quantised ? 64 : 256;
  return tight && c[kThreads] >= least && c[kThreads] == c[kThreadsPerRow] ? kRegisters / (64 * c[kThreads]) : 1;
}

}  // namespace

int32_t team_of(int64_t length, int64_t values) {
  return static_cast<int32_t>(
      std::min<uint64_t>(std::bit_ceil(static_cast<uint64_t>(ceil_div(length, values))), kMaxThreads));
}

bool in_turn(const Facts& f, const Config& c) {
  return (f.in_turn || (f.rereads && c[kWeights] == kWeightsShared)) && c[kRowsPerThread] > 1 &&
         (f.rotated || c[kThreadsPerRow] <= kWarp);
}

Shape shape_of(const Facts& f, const Config& c) {
  Shape s;
  s.accesses = ceil_div(f.length, int64_t{c[kThreadsPerRow]} * f.vector);
  s.values = s.accesses * f.vector;
  s.looped = s.values > (c[kPacked] ? 2 : 1) * kMaxValues;
  s.rows_per_block = c[kThreads] / c[kThreadsPerRow] * c[kRowsPerThread];
  return s;
}

const Knob kAllKnobs[kRopeKnobCount] = {
    {"threads", kThreadsValues, "small blocks free their slots sooner, large ones share weights among more rows"},
    {"threads_per_row", kThreadsPerRowValues, "few threads keep more loads in flight each, many need fewer registers"},
    {"rows_per_thread", kRowsPerThreadValues, "weights serve several rows, whose shuffles overlap, for registers"},
    {"weights", kWeightsValues,
     "0 late: few registers; 1 with the row: one wait less; 2 once per block: less L2 traffic"},
    {"packed", kPackedValues, "1: rows stay as stored, so that fewer threads hold one, each with more loads in flight"},
};

const Rule kRules[kRuleCount] = {
    {"threads must be a multiple of threads_per_row", teams_divide_block},
    {"half of the team's threads would hold nothing", no_idle_half},
    {"a thread would hold more values than its registers take", values_fit},
    {"rows too long to be held are looped over by a whole block of 256 threads or more, others are not",
     long_rows_take_a_block},
    {"blocks beyond 256 threads only where one row needs them", block_no_larger_than_needed},
    {"without weights per column, or with looped rows, there is nothing to load ahead", weights_have_a_path},
    {"sharing weights takes 16-byte parts, several rows per block and at most two parts per thread",
     shared_weights_pay},
    {"only 16-bit rows that are read in one pass are held as stored", packed_rows_are_16_bit},
    {"more than four rows a thread only in turn, to FP8", many_rows_take_turns},
    {"128 columns under one scale must lie in one access of a team", scales_belong_to_parts_of_warps},
};

namespace {

/// Measured on an H200, bf16 524288 x 512, copy 4160 GB/s: 64 threads with a row at a time 4050, 128 with two in turn
/// 4180.
Config two_in_turn(Config c) {
  if (c[kThreadsPerRow] > kWarp) return c;
  c[kThreads] = 128;
  c[kRowsPerThread] = 2;
  return c;
}

/// To FP8, copy 4140 GB/s: layer_norm 524288 x 512 one row a thread 3550, two 3785, four 4085, eight 4100; rms_norm one
/// 4100, four 4158, eight 4126; rms_norm_rope 8 x 8192 x 4096 one 3830, two 4073, four 4086, eight 3957.
Config four_in_turn(const Facts& f, Config c) {
  if (f.rotated || c[kThreadsPerRow] <= kWarp) c[kRowsPerThread] = 4;
  return c;
}

}  // namespace

Config default_config(const Problem& problem, const DeviceFacts& device) {
  const Facts f = facts_of(problem);
  Config c;
  c[kRowsPerThread] = 1;
  if (f.length > longest_held(f)) {
    c[kThreads] = kMaxThreads;  // fewer where as many would hold the row after all
    do c[kThreadsPerRow] = c[kThreads];
    while (!legal(kRules, problem, c, device) && (c[kThreads] /= 2) > 0);
    return c;
  }
  if (f.packable) {  // as many values a thread as fit: the more loads of each are in flight, the faster
    c[kPacked] = f.length > kWarp * kMaxValues;
    c[kThreadsPerRow] = std::max(team_of(f.length, (c[kPacked] ? 2 : 1) * kMaxValues),
                                 std::min(team_of(f.length, int64_t{4} * f.vector), kWarp));
    c[kThreads] = std::max(c[kThreadsPerRow], 64);
    return c;
  }
  // 16 values a thread, a whole warp at narrow accesses; no second warp, with its barrier, before 32 values a thread.
  int32_t team = team_of(f.length, 16);
  if (team > kWarp) team = std::max(kWarp, team_of(f.length, kMaxValues / f.inputs));
  c[kThreadsPerRow] = std::max({team, std::min(team_of(f.length, int64_t{4} * f.vector), kWarp), f.least_team});
  if (f.weights_per_column && f.weight_bytes > f.element_bytes && shape_of(f, c).values * f.inputs <= kMaxValues / 2)
    c[kRowsPerThread] = 2;
  // Weights once per block where 64 threads can carry them; 128 only if latency counts more than small blocks.
  const int64_t input_bytes = f.rows * f.groups * f.length * f.element_bytes;
  for (const int32_t threads : {64, 128}) {
    c[kThreads] = std::max(c[kThreadsPerRow], threads);
    c[kWeights] = kWeightsShared;
    if (legal(kRules, problem, c, device)) {
      if (input_bytes < kLargeInput) return c;
      return f.in_turn ? four_in_turn(f, c) : f.rereads ? two_in_turn(c) : c;
    }
    if (input_bytes >= kLargeInput) break;
  }
  c[kThreads] = std::max(c[kThreadsPerRow], 64);
  c[kWeights] = kWeightsLate;
  return f.in_turn && input_bytes >= kLargeInput ? four_in_turn(f, c) : c;
}

Resources resources(const Problem& problem, const Config& c) {
  const Facts f = facts_of(problem);
  const Shape s = shape_of(f, c);
  Resources r;
  r.threads = c[kThreads];
  r.smem_bytes = smem_bytes(f, c);
  r.min_blocks = min_blocks(f, c);
  if (s.looped) return r;
  // Addresses and sums; the values in f32, further inputs as stored; weight and bias as stored if they come first.
  const int64_t held = s.values * (in_turn(f, c) ? 1 : c[kRowsPerThread]);
  int64_t values = (c[kPacked] ? held / 2 : held) + (f.inputs - 1) * held * f.element_bytes / 4;
  if (f.quantised) values = std::max(values, f.results * held);  // when the inputs are dead
  int64_t registers = 12 + values;
  if (c[kWeights] == kWeightsFirst) registers += s.values * f.weight_vectors * f.weight_bytes / 4;
  r.registers = static_cast<int>(std::min<int64_t>(registers, kRegisters));
  return r;
}

void write_config(ConfigText& text, const Problem& problem, const Config& c) {
  const Facts f = facts_of(problem);
  text.constant("kDim", f.length);
  text.constant("kGroups", f.groups);
  text.constant("kVector", f.vector);
  text.constant("kThreads", c[kThreads]);
  text.constant("kThreadsPerRow", c[kThreadsPerRow]);
  text.constant("kRowsPerThread", c[kRowsPerThread]);
  text.constant("kWeights", c[kWeights]);
  text.constant("kMinBlocks", min_blocks(f, c));
}

void write_weights(ConfigText& text, const Problem& problem, int dtype, int has_weight, int weight_dtype, bool bias) {
  const bool weighted = problem[has_weight] != 0;
  const std::string_view element = device_type(static_cast<hstu_dtype>(problem[dtype]));
  text.type("Element", element);
  text.type("Weight", weighted ? device_type(static_cast<hstu_dtype>(problem[weight_dtype])) : element);
  text.flag("kHasWeight", weighted);
  text.flag("kHasBias", weighted && bias);
}

void write_scaling(ConfigText& text, hstu_dtype fp8, int scaling) {
  text.type("Fp8", device_type(fp8 == HSTU_DTYPE_NONE ? HSTU_DTYPE_E4M3 : fp8));
  text.constant("kScaling", scaling);
}

bool covers_scaling(const Problem& problem, int scaling, int vector) {
  const Facts f = facts_of(problem);
  return problem[scaling] == HSTU_FP8_TENSOR || (f.length <= longest_held(f) && problem[vector] >= 4);
}

hstu::SavingNormParams& bind_norm(const hstu_tensor& x, const hstu_tensor& weight, const void* bias,
                                  const hstu_tensor& y, float eps, const Problem& problem, const Config& config,
                                  Launch& launch) {
  bind_shape(problem, config, x.shape[0], launch);
  return bind_rows(x, weight, bias, y, eps, launch);
}

hstu::SavingNormParams& bind_rows(const hstu_tensor& x, const hstu_tensor& weight, const void* bias,
                                  const hstu_tensor& y, float eps, Launch& launch) {
  auto& p = launch.emplace<hstu::SavingNormParams>();
  p.x = x.data;
  p.weight = weight.data;
  p.bias = bias;
  p.y = y.data;
  p.rows = x.shape[0];
  p.x_row_stride = x.stride[0];
  p.y_row_stride = y.stride[0];
  p.eps = eps;
  return p;
}

void bind_shape(const Problem& problem, const Config& c, int64_t matrix_rows, Launch& launch) {
  const Facts f = facts_of(problem);
  // All three are powers of two: shifts, not divisions.
  const int rows_per_block =
      (c[kThreads] >> std::countr_zero(static_cast<uint32_t>(c[kThreadsPerRow]))) * c[kRowsPerThread];
  launch.grid[0] = static_cast<uint32_t>((matrix_rows * f.groups + rows_per_block - 1) >>
                                         std::countr_zero(static_cast<uint32_t>(rows_per_block)));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(f, c));
}

}  // namespace hstujit::row_norm
