// The board on which the blocks of a launch post sums: each tile gets the sum of all before it, to the same bit however
// many blocks there are and with a board or without, and a board is free again when its launch is over. The device side
// is launch_board_checks.cuh.
#include "support/gpu.hpp"
#include "support/streams.hpp"
#include "tile/tile_counter.h"

#include <algorithm>
#include <cmath>
#include <list>

namespace hstujit {
namespace {

using test::DeviceBuffer;
using test::Streams;

constexpr uint32_t kTiles = hstu::LaunchBoard::kTiles;

struct BoardParams {
  void* memory;
  void* before;
  uint32_t tiles;
  void* found;
  void* gate;
};

class LaunchBoard : public testing::Test {
 protected:
  void SetUp() override {
    HSTU_NEEDS_GPU();
    memory_ = std::make_unique<TileCounters>(*test::gpu()->driver);
    kernel_ = test::kernel_of_tests("launch_board_checks.cuh", "hstu::check::post_tiles");
    found_ = word(0);
  }

  static std::unique_ptr<DeviceBuffer> word(uint32_t value) { return std::make_unique<DeviceBuffer>(&value, 4); }
  /// What a launch writes, poisoned and kept until the test is over.
  DeviceBuffer& sums(uint32_t tiles) {
    const std::vector<double> poison(tiles, std::nan(""));
    return sums_.emplace_back(poison.data(), poison.size() * 8);
  }
  void launch(DeviceBuffer& before, uint32_t blocks, CUstream stream, const DeviceBuffer* gate = nullptr) const {
    Launch launch;
    launch.grid[0] = blocks;
    launch.block[0] = 32;
    launch.emplace<BoardParams>() = {memory_->address(), before.data(), static_cast<uint32_t>(before.bytes() / 8),
                                     found_->data(), gate ? gate->data() : nullptr};
    test::gpu()->driver->check(kernel_->launch(launch, stream), "launching post_tiles");
  }
  uint32_t found() const { return found_->read<uint32_t>()[0]; }
  /// What is right to rounding, and the same bits from all launches.
  void expect_all_right() const {
    const auto longest = std::ranges::max_element(sums_, {}, &DeviceBuffer::bytes)->read<double>();
    double sum = 0;
    for (size_t t = 0; t < longest.size(); ++t) {
      ASSERT_NEAR(longest[t], sum, 1e-12 * (1 + sum)) << t;
      sum += 1.0 / static_cast<double>(1 + t);
    }
    for (const DeviceBuffer& one : sums_) {
      const auto got = one.read<double>();
      EXPECT_TRUE(std::equal(got.begin(), got.end(), longest.begin()));
    }
    uint32_t taken = 1;
    const auto address = reinterpret_cast<CUdeviceptr>(memory_->address()) + offsetof(hstu::LaunchMemory, boards);
    test::gpu()->driver->check(test::gpu()->driver->cuMemcpyDtoH(&taken, address, 4), "reading the boards");
    EXPECT_EQ(taken, 0u);
  }
  /// As if so many launches had had each board.
  void age_boards(uint32_t launches) const {
    for (size_t i = 0; i < hstu::LaunchBoards::kCount; ++i) {
      const auto address = reinterpret_cast<CUdeviceptr>(memory_->address()) + offsetof(hstu::LaunchMemory, boards) +
                           offsetof(hstu::LaunchBoards, board) + i * sizeof(hstu::LaunchBoard) +
                           offsetof(hstu::LaunchBoard, last_tag);
      test::gpu()->driver->check(test::gpu()->driver->cuMemcpyHtoD(address, &launches, 4), "aging a board");
    }
  }

  std::unique_ptr<TileCounters> memory_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::unique_ptr<DeviceBuffer> found_;
  std::list<DeviceBuffer> sums_;
};

TEST_F(LaunchBoard, GivesEachTileTheSumOfAllBefore) {
  for (const uint32_t tiles : {1u, 31u, 32u, 33u, 1024u, 1025u, 3000u, kTiles})
    for (const uint32_t blocks : {1u, 7u, 132u, 500u}) launch(sums(tiles), std::min(blocks, tiles), nullptr);
  test::gpu()->driver->cuStreamSynchronize(nullptr);
  expect_all_right();
}

TEST_F(LaunchBoard, LaunchesAtOnceHaveBoardsOfTheirOwnOrNone) {
  constexpr uint32_t kBoards = hstu::LaunchBoards::kCount, kLaunches = kBoards + 5, kBlocks = 3;
  const Streams streams(kLaunches);
  const auto gate = word(0);
  for (uint32_t i = 0; i < kLaunches; ++i) launch(sums(1000 + 100 * i), kBlocks, streams[i], gate.get());
  const uint32_t open = 1;
  while (found() < kBoards * kBlocks) {}  // all blocks are there at once; those without a board wait, too
  gate->write(&open, sizeof open);
  streams.wait();
  EXPECT_EQ(found() % kBlocks, 0u);
  EXPECT_GE(found(), kBoards * kBlocks);
  expect_all_right();
}

TEST_F(LaunchBoard, ReplaysOfGraphsFindNothingOfTheOnesBefore) {
  const Streams streams(8);
  std::vector<DeviceBuffer*> buffers;
  for (uint32_t i = 0; i < 32; ++i) buffers.push_back(&sums(40 + i % 7 * 300));
  const test::BranchedGraph graph(streams, [&] {
    for (size_t i = 0; i < buffers.size(); ++i) launch(*buffers[i], static_cast<uint32_t>(1 + i % 40), streams[i % 8]);
  });
  for (int replay = 0; replay < 5; ++replay) {
    graph.launch(streams[0]);
    streams.wait();
    expect_all_right();
    for (DeviceBuffer& one : sums_) one.write(std::vector<double>(one.bytes() / 8, std::nan("")).data(), one.bytes());
  }
}

TEST_F(LaunchBoard, BeginsAnewWhenTagsRunOut) {
  launch(sums(kTiles), 100, nullptr);
  test::gpu()->driver->cuStreamSynchronize(nullptr);
  age_boards(0xfffffffcu);
  for (uint32_t i = 0; i < 6; ++i) launch(sums(kTiles - i * 1000), 100, nullptr);
  test::gpu()->driver->cuStreamSynchronize(nullptr);
  expect_all_right();
}

}  // namespace
}  // namespace hstujit
