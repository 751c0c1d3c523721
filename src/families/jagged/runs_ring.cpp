#include "families/jagged/runs_ring.hpp"

#include "families/jagged/length_sums.hpp"
#include "operators/jagged/jagged_lengths.hpp"

namespace hstujit::runs_ring {
namespace {

using namespace jagged_lengths;

constexpr int32_t kPipesValues[] = {1, 2, 4, 8, 10};
constexpr int32_t kConsumersValues[] = {1, 2, 4, 7, 15};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kChunkValues[] = {4, 8, 12, 16};

constexpr int64_t kLeastBytes = 16 << 20;  // below, fewer blocks and less to set up are faster
constexpr int64_t kLeastSequenceBytes = 64;
constexpr int64_t kLongSequenceBytes = 16 << 10;  // from here on most chunks are of one or two runs

int threads(const Config& c) { return 32 * c[kPipes] * (1 + c[kConsumers]); }

/// sizeof(tile::RunsRingStorage): per stage a chunk and 32 bytes a run, of which there are 32, 8 of each run's place, a
/// header and two barriers; the sums; who hands out chunks.
int smem_bytes(const Problem& p, const Config& c) {
  const int stage = c[kChunk] * 1024 + 32 * 32 + 8 * 32 + 32 + 16;
  const int sum_bytes = 2 * length_sums::row_bytes(p);
  const int sums = (16 + c[kPipes] * c[kStages] * stage + sum_bytes - 1) / sum_bytes * sum_bytes;
  const int bytes = sums + length_sums::smem_bytes(p, threads(c)) + 24;
  return (bytes + sum_bytes - 1) / sum_bytes * sum_bytes;
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"pipes", kPipesValues, "of a block: producers look for runs at the same time"},
    {"consumers", kConsumersValues, "warps of a pipe that write"},
    {"stages", kStagesValues, "of a pipe: chunks on their way at once, for shared memory"},
    {"chunk", kChunkValues, "KB that are asked for and looked for at once"},
};

bool threads_fit(const Problem&, const Config& c, const DeviceFacts&) {
  return threads(c) >= 256 && threads(c) <= 1024;
}

const Rule kRules[kRuleCount] = {
    {"a block has 256 to 1024 threads", threads_fit},
};

/// Measured on an H200, us of 512 MB a side: one pipe whose 15 warps write, four stages of 16 KB, transposition 270.8,
/// concatenation 282.3; two pipes of seven, two stages 271.9 and 284.5, three 272.8 and 286.8; chunks of 8 KB 277 and
/// 288. Two results: one pipe with four stages of 12 KB 401, of 16 KB 408, two pipes with three stages of 8 KB 405. A
/// producer takes 0.8 us for a chunk, more where that is of many runs: then there are two. With 65536 sequences
/// producers add up lengths, so more of them are better: ten 65 %, eight 59, two 54.
Config default_config(const Problem& p, const DeviceFacts&) {
  if (!length_sums::keeps_all(p)) return length_sums::narrow(p) ? Config{{10, 2, 2, 4}} : Config{{8, 1, 2, 4}};
  const bool long_sequences = int64_t{p[kRows]} * p[kAccessBytes] >= kLongSequenceBytes * p[kBatch];
  if (p.op == Op::jagged_remove_first_or_last_1d) return long_sequences ? Config{{1, 15, 4, 12}} : Config{{2, 7, 3, 8}};
  return long_sequences ? Config{{1, 15, 4, 16}} : Config{{2, 7, 2, 16}};
}

/// Vectors that are long, in sequences that are not all of a few elements: a stage takes 32 runs.
bool covers(const Problem& p, const DeviceFacts& device) {
  const int64_t bytes = int64_t{p[kRows]} * p[kAccessBytes];
  return bytes >= kLeastBytes && bytes >= kLeastSequenceBytes * p[kBatch] &&
         smem_bytes(p, default_config(p, device)) <= device.smem_per_block;
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = threads(c), .smem_bytes = smem_bytes(p, c), .registers = 48, .min_blocks = 1};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  length_sums::write_config(text, p, threads(c));
  text.constant("kPipes", c[kPipes]);
  text.constant("kConsumers", c[kConsumers]);
  text.constant("kStages", c[kStages]);
  text.constant("kChunkBytes", c[kChunk] * 1024);
}

hstu::JaggedLengthsParams& bind(const hstu_tensor& left_lengths, const hstu_tensor& left, const hstu_tensor* right,
                                const hstu_tensor& combined, int64_t rows, const Problem& problem, const Config& config,
                                const DeviceFacts& device, Launch& launch) {
  auto& p = length_sums::bind(
      left_lengths, left, right, combined, rows, problem,
      {.unit_bytes = config[kChunk] * 1024, .workers = config[kPipes], .most = device.sm_count, .sixteenths = 0},
      launch);
  launch.block[0] = static_cast<uint32_t>(threads(config));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, config));
  return p;
}

}  // namespace hstujit::runs_ring
