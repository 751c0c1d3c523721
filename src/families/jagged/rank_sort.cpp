// sort_kv_pairs_sm80 and sort_by_length_sm80: pairs, or the numbers of sequences, each put where so many others belong
// in front of it, kernels/jagged/runs/rank_sort.cuh.
#include "families/families.hpp"
#include "families/jagged/sort_problem.hpp"
#include "operators/jagged/sort_kv_pairs.hpp"
#include "support/ceil_div.hpp"

namespace hstujit {
namespace {

enum : int { kThreads, kItems, kKnobCount };

constexpr int32_t kThreadsValues[] = {64, 128, 256};
constexpr int32_t kItemsValues[] = {1, 2, 4, 8};

constexpr Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks spread few elements over the device"},
    {"items", kItemsValues, "own keys a thread: each key read from shared memory is compared with so many"},
};

bool covers(const Problem& p, const DeviceFacts&) { return sort_problem::count(p) <= sort::kMostByRank; }

Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t count = sort_problem::count(p);
  Config c;
  c[kThreads] = 128;
  c[kItems] = 1;
  while (c[kItems] < 4 && count >= 4 * c[kThreads] * c[kItems] * device.sm_count) c[kItems] *= 2;
  return c;
}

Resources resources(const Problem& p, const Config& c) {
  return {.threads = c[kThreads],
          .smem_bytes = c[kThreads] * c[kItems] * sort_problem::key_bytes(p),
          .registers = 16 + 3 * c[kItems]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  sort_problem::write_types(text, p);
  text.constant("kThreads", c[kThreads]);
  text.constant("kItems", c[kItems]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const int64_t count = sort_problem::set_params(args, p, launch), per_block = int64_t{c[kThreads]} * c[kItems];
  launch.grid[0] = static_cast<uint32_t>(ceil_div(count, per_block));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(resources(p, c).smem_bytes);
}

constexpr Family family(std::string_view name, Op op, std::string_view smem_expression) {
  return {
      .name = name,
      .room = "jagged",
      .op = op,
      .min_compute_capability = 80,
      .knobs = kKnobs,
      .rules = {},
      .covers = covers,
      .default_config = default_config,
      .resources = resources,
      .write_config = write_config,
      .smem_expression = smem_expression,
      .bind = bind,
  };
}

}  // namespace

const Family kSortKvPairsSm80 =
    family("sort_kv_pairs_sm80", Op::sort_kv_pairs, "sort_kv_pairs_sm80_smem_bytes<Config>");

const Family kSortByLengthSm80 =
    family("sort_by_length_sm80", Op::sort_by_length, "sort_by_length_sm80_smem_bytes<Config>");

}  // namespace hstujit
