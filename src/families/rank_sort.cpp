#include "families/rank_sort.hpp"

#include "params/rank_sort.h"
#include "problem/jagged_fields.hpp"
#include "support/ceil_div.hpp"

namespace hstujit::rank_sort {
namespace {

constexpr int32_t kThreadsValues[] = {64, 128, 256};
constexpr int32_t kItemsValues[] = {1, 2, 4, 8};

}  // namespace

const Knob kKnobs[kKnobCount] = {
    {"threads", kThreadsValues, "small blocks spread few elements over the device"},
    {"items", kItemsValues, "own keys a thread: each key read from shared memory is compared with so many"},
};

Config default_config(int32_t count, const DeviceFacts& device) {
  Config c;
  c[kThreads] = 128;
  c[kItems] = 1;
  while (c[kItems] < 4 && count >= 4 * c[kThreads] * c[kItems] * device.sm_count) c[kItems] *= 2;
  return c;
}

Resources resources(int key_bytes, const Config& c) {
  return {.threads = c[kThreads], .smem_bytes = c[kThreads] * c[kItems] * key_bytes, .registers = 16 + 3 * c[kItems]};
}

void write_knobs(ConfigText& text, const Config& c) {
  text.constant("kThreads", c[kThreads]);
  text.constant("kItems", c[kItems]);
  text.constant("kMinBlocks", 1);
}

void set_shape(int64_t count, int key_bytes, const Config& c, Launch& launch) {
  const int64_t per_block = int64_t{c[kThreads]} * c[kItems];
  launch.grid[0] = static_cast<uint32_t>(ceil_div(count, per_block));
  launch.block[0] = static_cast<uint32_t>(c[kThreads]);
  launch.smem_bytes = static_cast<uint32_t>(resources(key_bytes, c).smem_bytes);
}

void set_params(const hstu_sort_kv_pairs_args& a, Launch& launch) {
  const int bytes = size_of(a.keys.dtype);
  auto& p = launch.emplace<hstu::RankSortParams>();
  p.keys = a.keys.data;
  p.values = a.values.data;
  p.out_keys = a.out_keys.data;
  p.out_values = a.out_values.data;
  const bool all = a.end_bit == 0 || a.end_bit == 8 * bytes;
  p.mask = all ? -1 : static_cast<int64_t>((uint64_t{1} << a.end_bit) - 1);
  // All bits as an unsigned number: its highest counts the other way than a sign.
  p.flip = a.end_bit == 8 * bytes ? static_cast<int64_t>(uint64_t{1} << (8 * bytes - 1)) : 0;
  if (a.descending) p.flip = ~p.flip;
  p.count = static_cast<int>(a.keys.shape[0]);
}

void set_params(const hstu_sort_by_length_args& a, Launch& launch) {
  auto& p = launch.emplace<hstu::RankSortParams>();
  p.keys = a.offsets.data;
  p.out_values = a.out.data;
  p.count = static_cast<int>(a.out.shape[0]);
}

void write_length_types(ConfigText& text, const Problem& p) {
  text.type("Key", device_type(static_cast<hstu_dtype>(p[sort_by_length::kOffsetDtype])));
  text.type("Result", device_type(static_cast<hstu_dtype>(p[sort_by_length::kOutDtype])));
}

}  // namespace hstujit::rank_sort
