#include "families/sample_sort.hpp"

#include "problem/jagged_fields.hpp"
#include "support/ceil_div.hpp"
#include "support/element.hpp"

#include <algorithm>

namespace hstujit::sample_sort {
namespace {

constexpr int32_t kThreadsValues[] = {256, 512, 1024};
constexpr int32_t kRoomValues[] = {256, 512, 1024, 2048, 4096, 8192};

int32_t count_of(const Problem& p) { return p.op == Op::sort_by_length ? p[sort_by_length::kCount] : p[sort::kCount]; }
int key_bytes(const Problem& p) {
  return size_of(
      static_cast<hstu_dtype>(p.op == Op::sort_by_length ? p[sort_by_length::kOffsetDtype] : p[sort::kKeyDtype]));
}

/// sizeof(tile::SampleSortStorage): keys with their indices, a sum a warp and one more.
int smem_bytes(const Problem& p, const Config& c) {
  const int item = 2 * key_bytes(p), sums = 4 * (c[kThreads] / 32 + 1);
  return c[kRoom] * item + (sums + key_bytes(p) - 1) / key_bytes(p) * key_bytes(p);
}

bool room_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_bytes(p, c) <= device.smem_per_block;
}
/// Whether ranges fit the room: blocks have a quarter of it on average, of a sample that is half a room.
bool ranges_fit(const Problem& p, const Config& c, const DeviceFacts& device) {
  const int64_t count = count_of(p), room = c[kRoom];
  return (4 * count <= room * device.sm_count && 32 * count <= room * room) || room >= 4096;
}

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "of a block, which reads all keys"},
    {"room", kRoomValues, "elements that a block sorts at once: more are fewer blocks and reads, and a larger sample"},
};
const Rule kRules[kRuleCount] = {{"more elements than shared memory holds", room_fits},
                                 {"ranges that do not fit the room", ranges_fit, true}};

bool covers(const Problem& p, const DeviceFacts&) { return count_of(p) > sort::kMostByRank; }

/// The least room: a large sample takes long to sort. Measured on an H200, rooms of 256, 512, 1024, 2048, 4096: 1536
/// pairs of i64 15, 17, 20, 29, 54 us; of i32, from 512 on, 16384: 25, 25, 29, 36; 65536: 555, 98, 46, 53.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t count = count_of(p), threads = count <= 1 << 11 ? 256 : count <= 1 << 14 ? 512 : 1024;
  const Config large{{1024, 8192}};
  if (count > 1 << 19 && room_fits(p, large, device)) return large;
  const Config candidates[] = {{{threads, 256}}, {{threads, 512}}, {{threads, 1024}}, {{1024, 2048}}, {{1024, 4096}}};
  return first_legal(std::span(candidates).subspan(count > 1 << 11), kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = smem_bytes(p, c), .registers = 32};
}

void write_knobs(ConfigText& text, const Config& c) {
  text.constant("kThreads", c[kThreads]);
  text.constant("kRoom", c[kRoom]);
  text.constant("kMinBlocks", 1);
}

void set_shape(int64_t count, const Problem& problem, const Config& c, const DeviceFacts& device, Launch& launch) {
  const int64_t fill = c[kRoom] / 2;  // on average: ranges differ by what a sample lets pass
  launch.grid[0] = static_cast<uint32_t>(std::max(ceil_div(count, fill), int64_t{device.sm_count}));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
}

}  // namespace hstujit::sample_sort
