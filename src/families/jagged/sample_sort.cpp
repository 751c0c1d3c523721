// sort_kv_parts_sm80 and sort_by_length_parts_sm80: many pairs, or the numbers of many sequences, by ranges that a
// sample cuts, kernels/jagged/runs/sample_sort.cuh.
#include "families/families.hpp"
#include "families/jagged/sort_problem.hpp"
#include "operators/jagged/sort_kv_pairs.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kThreads, kRoom, kKnobCount };

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kRoomValues[] = {256, 512, 1024, 2048, 4096, 8192};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which reads all keys"},
    {"room", kRoomValues, "elements that a block sorts at once: more are fewer blocks and reads, and a larger sample"},
};

/// sizeof(tile::SampleSortStorage): keys with their indices, a sum a warp and one more.
int smem_bytes(const Problem& p, const Config& c) {
  const int key = sort_problem::key_bytes(p), sums = 4 * (c[kThreads] / 32 + 1);
  return c[kRoom] * 2 * key + (sums + key - 1) / key * key;
}

bool room_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_bytes(p, c) <= device.smem_per_block;
}
/// Whether ranges fit the room: blocks have a quarter of it on average, of a sample that is half a room.
bool ranges_fit(const Problem& p, const Config& c, const DeviceFacts& device) {
  const int64_t count = sort_problem::count(p), room = c[kRoom];
  return (4 * count <= room * device.sm_count && 32 * count <= room * room) || room >= 4096;
}

constexpr Rule kRules[] = {{"more elements than shared memory holds", room_fits},
                           {"ranges that do not fit the room", ranges_fit, true}};

bool covers(const Problem& p, const DeviceFacts&) { return sort_problem::count(p) > sort::kMostByRank; }

/// The least room: a large sample takes long to sort. Measured on an H200, rooms of 256, 512, 1024, 2048, 4096: 1536
/// pairs of i64 15, 17, 20, 29, 54 us; of i32, from 512 on, 16384: 25, 25, 29, 36; 65536: 555, 98, 46, 53.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t count = sort_problem::count(p), threads = count <= 1 << 11 ? 256 : count <= 1 << 14 ? 512 : 1024;
  const Config large{{1024, 8192}};
  if (count > 1 << 19 && room_fits(p, large, device)) return large;
  const Config candidates[] = {{{threads, 256}}, {{threads, 512}}, {{threads, 1024}}, {{1024, 2048}}, {{1024, 4096}}};
  return first_legal(std::span(candidates).subspan(count > 1 << 11), kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 32};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  sort_problem::write_types(text, p);
  text.constant("kThreads", c[kThreads]);
  text.constant("kRoom", c[kRoom]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const int64_t count = sort_problem::set_params(args, p, launch);
  const int64_t fill = c[kRoom] / 2;  // on average: ranges differ by what a sample lets pass
  launch.grid[0] = static_cast<uint32_t>(std::max(ceil_div(count, fill), int64_t{device.sm_count}));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
}

constexpr Family family(std::string_view name, Op op, std::string_view smem_expression) {
  return {
      .name = name,
      .room = "jagged",
      .op = op,
      .min_compute_capability = 80,
      .knobs = kKnobs,
      .rules = kRules,
      .covers = covers,
      .default_config = default_config,
      .resources = resources,
      .write_config = write_config,
      .smem_expression = smem_expression,
      .bind = bind,
  };
}

}  // namespace

const Family kSortKvPartsSm80 =
    family("sort_kv_parts_sm80", Op::sort_kv_pairs, "sort_kv_parts_sm80_smem_bytes<Config>");

const Family kSortByLengthPartsSm80 =
    family("sort_by_length_parts_sm80", Op::sort_by_length, "sort_by_length_parts_sm80_smem_bytes<Config>");

}  // namespace hstujit
