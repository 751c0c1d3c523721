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

enum : int { kThreads, kPieces, kKnobCount };

constexpr int32_t kThreadsValues[] = {128, 256, 512};
constexpr int32_t kPiecesValues[] = {1, 2, 4, 8, 16};
constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which share the tables of buckets"},
    {"pieces", kPiecesValues, "8 rows of an access each that a thread makes: more share the tables"},
};

constexpr int kRows = 8;  // of a piece, as in the kernel

bool covers(const Problem&, const DeviceFacts&) { return true; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  Config c;
  c[kThreads] = 128;
  c[kPieces] = 1;
  const int64_t pieces = int64_t{p[rel_bias::kBatch]} * p[rel_bias::kNumHeads] * p[rel_bias::kPositions] *
                         p[rel_bias::kPositions] / (kRows * p[rel_bias::kVector]);
  while (c[kPieces] < 4 && pieces / (c[kThreads] * c[kPieces] * 2) > 8 * device.sm_count) c[kPieces] *= 2;
  return c;
}

Resources resources(const Problem&, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = 2 * hstu::RelBiasParams::kBuckets * 4, .registers = 40};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[rel_bias::kDtype])));
  text.type("Table", device_type(static_cast<hstu_dtype>(p[rel_bias::kTableDtype])));
  text.constant("kVector", p[rel_bias::kVector]);
  text.constant("kThreads", c[kThreads]);
  text.constant("kPieces", c[kPieces]);
  text.constant("kMinBlocks", 1);
}

/// The least age, as a float, of each bucket: bits of positive floats are in the order of their values.
std::array<float, hstu::RelBiasParams::kBuckets> least_ages() {
  std::array<float, hstu::RelBiasParams::kBuckets> ages{};
  for (int64_t bucket = 1; bucket <= rel_bias::kLastBucket; ++bucket) {
    uint32_t below = std::bit_cast<uint32_t>(1.0f), from = std::bit_cast<uint32_t>(0x1p64f);
    while (from - below > 1) {
      const uint32_t middle = below + (from - below) / 2;
      (rel_bias::bucket_of(std::bit_cast<float>(middle)) < bucket ? below : from) = middle;
    }
    ages[static_cast<size_t>(bucket)] = std::bit_cast<float>(from);
  }
  return ages;
}

int64_t head_stride(const hstu_tensor& table) { return table.shape[0] == 1 ? 0 : table.stride[0]; }

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  static const std::array<float, hstu::RelBiasParams::kBuckets> kLeastAges = least_ages();
  const auto& a = *static_cast<const hstu_rel_bias_args*>(args);
  const int64_t pairs = a.rab.shape[0] * a.rab.shape[1], n = a.rab.shape[3], groups = n / problem[rel_bias::kVector];
  const int64_t pieces = (n + kRows - 1) / kRows * groups, per_block = int64_t{c[kThreads]} * c[kPieces];
  const int64_t blocks = (pieces + per_block - 1) / per_block;
  launch.grid[0] = static_cast<uint32_t>(pairs * blocks);
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(resources(problem, c).smem_bytes);
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
  p.pieces = static_cast<unsigned>(pieces);
  p.blocks_per_pair = static_cast<unsigned>(blocks);
  std::copy(kLeastAges.begin(), kLeastAges.end(), p.least_age);
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
