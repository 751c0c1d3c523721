// Sorts of more pairs than go by rank: keys that samples tell little about, sizes around a block's, and blocks whose
// ranges do not fit their shared memory. The device side is sample_sort_checks.cuh.
#include "jagged/rank_sort.h"
#include "operators/jagged/sort_kv_pairs.hpp"
#include "support/device_call.hpp"
#include "support/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace hstujit {
namespace {

using test::DeviceBuffer;
using test::HostMemory;

struct Pattern {
  const char* name;
  std::function<int64_t(int64_t index, std::mt19937_64& random)> key;
};

std::vector<Pattern> patterns() {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  return {{"random", [](int64_t, auto& random) { return static_cast<int64_t>(static_cast<int32_t>(random())); }},
          {"all equal", [](int64_t, auto&) { return int64_t{7}; }},
          {"in order", [](int64_t i, auto&) { return i; }},
          {"backwards", [](int64_t i, auto&) { return -i; }},
          {"a period", [](int64_t i, auto&) { return i % 61; }},
          {"the ends of the type", [=](int64_t, auto& random) { return random() % 2 ? kLeast : kMost; }},
          {"one far from the rest",
           [=](int64_t i, auto& random) { return i % 4099 == 0 ? kLeast + i : static_cast<int64_t>(random() % 3); }}};
}

std::vector<int64_t> keys_of(const Pattern& pattern, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(count));
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < count; ++i) keys.push_back(pattern.key(i, random));
  return keys;
}

void expect_ordered(std::initializer_list<int64_t> counts) {
  for (const hstu_dtype dtype : {HSTU_DTYPE_I32, HSTU_DTYPE_I64})
    for (const Pattern& pattern : patterns())
      for (const int64_t count : counts)
        for (const int descending : {0, 1}) {
          HostMemory memory;
          hstu_sort_kv_pairs_args args{};
          args.struct_size = sizeof args;
          args.keys = memory.integers(dtype, keys_of(pattern, count));
          std::vector<int64_t> numbers(static_cast<size_t>(count));
          std::iota(numbers.begin(), numbers.end(), 0);
          args.values = memory.integers(HSTU_DTYPE_I32, numbers);
          args.out_keys = memory.poison(dtype, {count});
          args.out_values = memory.poison(HSTU_DTYPE_I32, {count});
          args.descending = descending;
          test::DeviceCall call(memory, Op::sort_kv_pairs, &args);
          ASSERT_EQ(call.status(), HSTU_OK) << call.error();
          EXPECT_TRUE(call.wrote_only({args.out_keys, args.out_values}));
          prepare(args);
          reference::run(args);
          for (const hstu_tensor& out : {args.out_keys, args.out_values})
            EXPECT_EQ(std::memcmp(call.after(out).data, out.data, static_cast<size_t>(extent_bytes(out))), 0)
                << pattern.name << ", " << count << (descending ? ", descending" : "");
        }
}

TEST(SampleSort, OrdersKeysThatSamplesTellLittleAbout) {
  HSTU_NEEDS_GPU();
  expect_ordered({sort::kMostByRank, sort::kMostByRank + 1, 9000});
}

TEST(SampleSort, OrdersManyKeys) {
  HSTU_NEEDS_GPU();
  expect_ordered({300001});
}

void expect_ordered_by_length(std::initializer_list<int64_t> counts) {
  for (const auto& [offsets, out] : {std::pair{HSTU_DTYPE_I32, HSTU_DTYPE_I64}, {HSTU_DTYPE_I64, HSTU_DTYPE_I32}})
    for (const Pattern& pattern : patterns())
      for (const int64_t count : counts) {
        SCOPED_TRACE(fmt::format("{}, {}", pattern.name, count));
        HostMemory memory;
        std::vector<int64_t> lengths = keys_of(pattern, count);
        for (int64_t& length : lengths) length &= 0xfff;
        hstu_sort_by_length_args args{};
        args.offsets = memory.integers(offsets, test::offsets_of(lengths));
        args.out = memory.poison(out, {count});
        test::expect_same_bits(memory, args, {args.out});
      }
}

TEST(SampleSort, OrdersSequencesByLength) {
  HSTU_NEEDS_DEVICE();
  expect_ordered_by_length({sort::kMostByRank, sort::kMostByRank + 1, 9000});
}

TEST(SampleSort, OrdersManySequencesByLength) {
  HSTU_NEEDS_DEVICE();
  expect_ordered_by_length({300001});
}

TEST(SampleSort, SortsRangesWithoutRoomInTurns) {
  HSTU_NEEDS_GPU();
  constexpr int kSmemBytes = 64 * 8 + 3 * 4 + 4;
  const auto kernel =
      test::kernel_of_tests("sample_sort_checks.cuh", "hstu::sort_kv_parts_sm80<hstu::check::SmallRooms>", kSmemBytes);
  for (const Pattern& pattern : patterns())
    for (const int32_t count : {1, 31, 64, 65, 1000, 5000})
      for (const uint32_t blocks : {1u, 3u, 40u}) {
        const std::vector<int64_t> wide = keys_of(pattern, count);
        const std::vector<int32_t> keys(wide.begin(), wide.end());
        std::vector<int32_t> order(keys.size());
        std::iota(order.begin(), order.end(), 0);
        const DeviceBuffer given(keys.data(), keys.size() * 4), values(order.data(), order.size() * 4);
        const std::vector<uint8_t> poison(keys.size() * 4, 0xff);
        const DeviceBuffer out_keys(poison.data(), poison.size()), out_values(poison.data(), poison.size());
        Launch launch;
        launch.grid[0] = blocks;
        launch.block[0] = 64;
        launch.smem_bytes = kSmemBytes;
        launch.emplace<hstu::RankSortParams>() = {
            given.data(), values.data(), out_keys.data(), out_values.data(), -1, 0, count, 0};
        test::gpu()->driver->check(kernel->launch(launch, nullptr), "launching sort_kv_parts_sm80");
        test::gpu()->driver->cuStreamSynchronize(nullptr);
        std::ranges::stable_sort(order, {}, [&](int32_t i) { return keys[static_cast<size_t>(i)]; });
        EXPECT_EQ(out_values.read<int32_t>(), order) << pattern.name << ", " << count << ", blocks " << blocks;
        const auto sorted = out_keys.read<int32_t>();
        EXPECT_TRUE(std::ranges::is_sorted(sorted)) << pattern.name << ", " << count << ", blocks " << blocks;
      }
}

}  // namespace
}  // namespace hstujit
