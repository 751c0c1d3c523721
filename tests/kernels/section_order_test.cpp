// The order of tiles: each once, section by section, and a section's first level before the rest of the one before
// where that is asked. The device side is section_order_checks.cuh.
#include "support/gpu.hpp"

namespace hstujit {
namespace {

struct OrderParams {
  void* places;
  uint32_t pairs, section_pairs, levels;
  uint32_t first_early;
};

/// The same order, made by listing it.
std::vector<uint32_t> listed(const OrderParams& p) {
  std::vector<uint32_t> places;
  const auto list = [&](uint32_t section, uint32_t from, uint32_t to) {
    const uint32_t first = section * p.section_pairs;
    for (uint32_t level = from; level < to; ++level)
      for (uint32_t pair = first; pair < std::min(first + p.section_pairs, p.pairs); ++pair)
        places.insert(places.end(), {pair, level});
  };
  const uint32_t sections = (p.pairs + p.section_pairs - 1) / p.section_pairs;
  if (p.first_early) list(0, 0, 1);
  for (uint32_t section = 0; section < sections; ++section) {
    if (p.first_early && section + 1 < sections) list(section + 1, 0, 1);
    list(section, p.first_early ? 1 : 0, p.levels);
  }
  return places;
}

TEST(SectionOrder, ListsEachTileOnceAndLongOnesEarly) {
  HSTU_NEEDS_GPU();
  const auto kernel = test::kernel_of_tests("section_order_checks.cuh", "hstu::check::find_places");
  for (const uint32_t pairs : {1u, 2u, 7u, 16u, 31u})
    for (const uint32_t section_pairs : {1u, 3u, 4u, 16u, 40u})
      for (const uint32_t levels : {1u, 2u, 5u})
        for (const uint32_t first_early : {0u, 1u}) {
          const std::vector<uint32_t> poison(size_t{2} * pairs * levels, 0xdead);
          const test::DeviceBuffer places(poison.data(), poison.size() * 4);
          Launch launch;
          launch.grid[0] = (pairs * levels + 127) / 128;
          launch.block[0] = 128;
          const auto& params =
              launch.emplace<OrderParams>() = {places.data(), pairs, section_pairs, levels, first_early};
          test::gpu()->driver->check(kernel->launch(launch, nullptr), "launching find_places");
          EXPECT_EQ(places.read<uint32_t>(), listed(params))
              << pairs << " pairs, sections of " << section_pairs << ", " << levels << " levels, " << first_early;
        }
}

}  // namespace
}  // namespace hstujit
