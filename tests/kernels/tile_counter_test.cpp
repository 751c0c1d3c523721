// The counter of tiles that a launch's blocks share: each tile is handed out once, whichever launches run at once, and
// nothing of a launch stands when it is over. The device side is tile_counter_checks.cuh.
#include "tile/tile_counter.h"

#include "support/gpu.hpp"
#include "support/streams.hpp"

#include <algorithm>
#include <list>

namespace hstujit {
namespace {

using test::DeviceBuffer;
using test::Streams;

struct TileParams {
  void* counters;
  void* taken;
  uint32_t tiles;
  void* arrived;
  void* spare;
  void* gate;
  uint32_t work;
};

/// A word on the device, from 0.
struct Word {
  Word() : buffer(sizeof(uint32_t)) { set(0); }
  uint32_t value() const { return buffer.read<uint32_t>()[0]; }
  void set(uint32_t to) { buffer.write(&to, sizeof to); }
  void* data() const { return buffer.data(); }

  DeviceBuffer buffer;
};

class TileCounter : public testing::Test {
 protected:
  void SetUp() override {
    HSTU_NEEDS_GPU();
    counters_ = std::make_unique<TileCounters>(*test::gpu()->driver);
    kernel_ = test::kernel_of_tests("tile_counter_checks.cuh", "hstu::check::take_tiles");
    arrived_ = std::make_unique<Word>();
    spare_ = std::make_unique<Word>();
  }

  /// The counts of one launch's tiles, kept until the test is over.
  DeviceBuffer& counts(uint32_t tiles) {
    const std::vector<uint32_t> zeros(tiles, 0);
    return counts_.emplace_back(zeros.data(), zeros.size() * 4);
  }
  void launch(DeviceBuffer& taken, uint32_t blocks, CUstream stream, const Word* gate = nullptr,
              uint32_t work = 2000) const {
    const auto tiles = static_cast<uint32_t>(taken.bytes() / 4);
    Launch launch;
    launch.grid[0] = blocks;
    launch.block[0] = 32;
    launch.emplace<TileParams>() = {
        counters_->address(),          taken.data(), tiles, arrived_->data(), spare_->data(),
        gate ? gate->data() : nullptr, work};
    test::gpu()->driver->check(kernel_->launch(launch, stream), "launching take_tiles");
  }
  /// Bytes of the counters that are not zero.
  ptrdiff_t standing() const {
    std::vector<char> bytes((hstu::kTileCounters + hstu::kSpareTileCounters) * sizeof(hstu::TileCounter));
    test::gpu()->driver->check(test::gpu()->driver->cuMemcpyDtoH(
                                   bytes.data(), reinterpret_cast<CUdeviceptr>(counters_->address()), bytes.size()),
                               "reading the counters");
    return std::ranges::count_if(bytes, [](char byte) { return byte != 0; });
  }
  void expect_each_taken(uint32_t times) const {
    for (const DeviceBuffer& taken : counts_) {
      const auto got = taken.read<uint32_t>();
      EXPECT_EQ(std::count(got.begin(), got.end(), times), static_cast<ptrdiff_t>(got.size()));
    }
    EXPECT_EQ(standing(), 0);
  }

  std::unique_ptr<Word> arrived_, spare_;  ///< blocks of threads that have a counter; a spare one

 private:
  std::unique_ptr<TileCounters> counters_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::list<DeviceBuffer> counts_;
};

TEST_F(TileCounter, HandsOutEachTileOnce) {
  for (const uint32_t tiles : {1u, 131u, 132u, 133u, 1000u})
    for (const uint32_t blocks : {1u, 132u}) launch(counts(tiles), std::min(blocks, tiles), nullptr);
  test::gpu()->driver->cuStreamSynchronize(nullptr);
  expect_each_taken(1);
}

TEST_F(TileCounter, HandsOutEachTileOnceToLaunchesAtOnce) {
  const Streams streams(16);
  for (size_t i = 0; i < 400; ++i)
    launch(counts(static_cast<uint32_t>(40 + i % 7 * 30)), static_cast<uint32_t>(1 + i % 40), streams[i % 16]);
  streams.wait();
  expect_each_taken(1);
}

TEST_F(TileCounter, StartsAnewWithEachReplayOfAGraph) {
  const Streams streams(8);
  const auto branches = [&] {  // captured without allocating
    std::vector<DeviceBuffer*> buffers;
    for (uint32_t i = 0; i < 64; ++i) buffers.push_back(&counts(40 + i % 7 * 30));
    return buffers;
  };
  const std::vector<DeviceBuffer*> of_first = branches(), of_second = branches();
  const auto work = [&](const std::vector<DeviceBuffer*>& buffers) {
    for (size_t i = 0; i < buffers.size(); ++i) launch(*buffers[i], static_cast<uint32_t>(1 + i % 40), streams[i % 8]);
  };
  const test::BranchedGraph first(streams, [&] { work(of_first); }), second(streams, [&] { work(of_second); });
  for (int replay = 0; replay < 5; ++replay) {
    first.launch(streams[0]);
    second.launch(streams[1]);
  }
  streams.wait();
  expect_each_taken(5);
}

TEST_F(TileCounter, FindsASparePlaceWhenItsOwnIsTaken) {
  // Grid numbers count up by one a launch: the one 1024 behind a launch that is not over has the same place.
  const Streams streams(2);
  Word gate;
  launch(counts(300), 20, streams[0], &gate);
  DeviceBuffer& one_tile = counts(1);
  constexpr uint32_t kBetween = 1021;
  for (uint32_t i = 0; i < kBetween; ++i) launch(one_tile, 1, streams[1], nullptr, 0);
  for (int i = 0; i < 5; ++i) launch(counts(300), 30, streams[1]);
  streams.wait_for(1);
  EXPECT_EQ(spare_->value(), 30u);
  gate.set(1);
  streams.wait();
  EXPECT_EQ(arrived_->value(), 20 + kBetween + 5 * 30);
  EXPECT_EQ(one_tile.read<uint32_t>()[0], kBetween);
  const uint32_t once = 1;
  one_tile.write(&once, sizeof once);
  expect_each_taken(1);
}

}  // namespace
}  // namespace hstujit
