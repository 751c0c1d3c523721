// rel_bias_sm80: the relative bias of positions and times, kernels/rel_bias_sm80.cuh.
#include "families/families.hpp"
#include "params/rel_bias.h"
#include "problem/attention_fields.hpp"
#include "problem/operators.hpp"
#include "problem/rel_bias.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace hstujit {
namespace {

static_assert(hstu::RelBiasParams::kBuckets == rel_bias::kLastBucket + 1);

enum : int { kThreads, kRows, kKnobCount };

constexpr int64_t kWarp = 32, kLine = 128;

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kRowsValues[] = {8, 16, 32, 64, 128};
constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which share the tables of buckets"},
    {"rows", kRowsValues, "of a thread's columns: more share the columns' times and the tables"},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// Measured on an H200, bf16 32 x 2048 x 2048: 128 threads and 16 rows 86 us, 32 rows 89, 64 99; 256 and 32 93.
Config default_config(const Problem& p, const DeviceFacts& device) {
  Config c;
  c[kThreads] = 128;
  c[kRows] = 8;
  const int64_t elements =
      int64_t{p[rel_bias::kBatch]} * p[rel_bias::kNumHeads] * p[rel_bias::kPositions] * p[rel_bias::kPositions];
  const int64_t per_row = int64_t{c[kThreads]} * p[rel_bias::kVector];  // of a block
  while (c[kRows] < 16 && elements / (per_row * c[kRows] * 2) > 8 * device.sm_count) c[kRows] *= 2;
  return c;
}

/// Of an SM: of 65536 registers 80 a thread, where the compiler would take 90; 64 lose more than warps gain.
int min_blocks(const Config& c) { return 768 / c[kThreads]; }

/// Two tables of all buckets, one of near ones.
int smem_bytes() { return 4 * (2 * hstu::RelBiasParams::kBuckets + hstu::RelBiasParams::kNearBuckets); }

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(), .registers = 40, .min_blocks = min_blocks(c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[rel_bias::kDtype])));
  text.type("Table", device_type(static_cast<hstu_dtype>(p[rel_bias::kTableDtype])));
  text.constant("kVector", p[rel_bias::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kRows", c[kRows]);
  text.constant("kMinBlocks", min_blocks(c));
}

/// The least age of each bucket, as a float and, for near ones, as a number.
struct LeastAges {
  std::array<float, hstu::RelBiasParams::kBuckets> age{};
  std::array<int, hstu::RelBiasParams::kNearBuckets> near{};
};

/// The least number above `below` in which the bucket has begun; at most `from`. age_of(number): in order.
template <class Number, class AgeOf>
Number beginning_of(int64_t bucket, Number below, Number from, AgeOf age_of) {
  while (from - below > 1) {
    const Number middle = below + (from - below) / 2;
    (rel_bias::bucket_of(age_of(middle)) < bucket ? below : from) = middle;
  }
  return from;
}

LeastAges least_ages() {
  LeastAges least;
  // Bits of positive floats are in the order of their values.
  const auto as_bits = [](float age) { return std::bit_cast<uint32_t>(age); };
  for (int64_t bucket = 1; bucket <= rel_bias::kLastBucket; ++bucket) {
    const uint32_t bits = beginning_of(bucket, as_bits(1.0f), as_bits(0x1p64f),
                                       [](uint32_t middle) { return std::bit_cast<float>(middle); });
    least.age[static_cast<size_t>(bucket)] = std::bit_cast<float>(bits);
  }
  for (size_t bucket = 1; bucket < least.near.size(); ++bucket)
    least.near[bucket] = beginning_of<int>(static_cast<int64_t>(bucket), 1, hstu::RelBiasParams::kNear,
                                           [](int middle) { return static_cast<float>(middle); });
  return least;
}

/// Lanes that lie side by side in a row of so many pieces: for 128 bytes, a power of two.
int64_t row_lanes(const Problem& p, int64_t pieces) {
  const int64_t most = kLine / (p[rel_bias::kVector] * size_of(static_cast<hstu_dtype>(p[rel_bias::kDtype])));
  return static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(pieces, 1, std::min(most, kWarp)))));
}

int64_t head_stride(const hstu_tensor& table) { return table.shape[0] == 1 ? 0 : table.stride[0]; }

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  static const LeastAges kLeast = least_ages();
  const auto& a = *static_cast<const hstu_rel_bias_args*>(args);
  const int64_t pairs = a.rab.shape[0] * a.rab.shape[1], n = a.rab.shape[3], groups = n / problem[rel_bias::kVector];
  const int64_t lanes = row_lanes(problem, groups), strips = (groups + lanes - 1) / lanes;
  const int64_t block_rows = c[kRows] * (c[kThreads] / lanes), blocks = strips * ((n + block_rows - 1) / block_rows);
  launch.grid[0] = static_cast<uint32_t>(pairs * blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes());
  auto& p = launch.emplace<hstu::RelBiasParams>();
  p.timestamps = static_cast<const long long*>(a.timestamps.data);
  p.position_weights = a.position_weights.data;
  p.time_weights = a.time_weights.data;
  p.rab = a.rab.data;
  p.timestamps_row_stride = a.timestamps.stride[0];
  p.position_weights_head_stride = head_stride(a.position_weights);
  p.time_weights_head_stride = head_stride(a.time_weights);
  p.rab_batch_stride = a.rab.stride[0], p.rab_head_stride = a.rab.stride[1], p.rab_row_stride = a.rab.stride[2];
  p.positions = static_cast<int>(n);
  p.heads = static_cast<int>(a.rab.shape[1]);
  p.last_bucket = static_cast<int>(std::min<int64_t>(a.time_weights.shape[1] - 1, rel_bias::kLastBucket));
  p.column_groups = static_cast<unsigned>(groups);
  p.lane_bits = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(lanes)));
  p.strips = static_cast<unsigned>(strips);
  p.blocks_per_pair = static_cast<unsigned>(blocks);
  std::copy(kLeast.age.begin(), kLeast.age.end(), p.least_age);
  std::copy(kLeast.near.begin(), kLeast.near.end(), p.least_near);
}

}  // namespace

const Family kRelBiasSm80 = {
    .name = "rel_bias_sm80",
    .op = Op::rel_bias,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = {},
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "rel_bias_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
