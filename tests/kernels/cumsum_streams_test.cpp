// Long prefix sums from many streams at once, more than there are boards, and from branches of graphs that are
// replayed: every call's result is the one it has alone, to the bit.
#include "support/device_call.hpp"
#include "support/streams.hpp"

#include <bit>
#include <cmath>
#include <list>
#include <random>

namespace hstujit {
namespace {

using test::DeviceBuffer;
using test::Streams;

/// One call on a vector of its own, f32, whose sums have rounding to get wrong.
class Call {
 public:
  explicit Call(uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> value;
    std::vector<float> values(std::uniform_int_distribution<size_t>(33000, seed % 8 == 0 ? 3000000 : 200000)(random));
    for (float& v : values) v = value(random);
    values_ = std::make_unique<DeviceBuffer>(values.data(), values.size() * 4);
    out_ = std::make_unique<DeviceBuffer>((values.size() + 1) * 4);
    args_.struct_size = sizeof args_;
    args_.values = hstu_vector(values_->data(), HSTU_DTYPE_F32, static_cast<int64_t>(values.size()));
    args_.out = hstu_vector(out_->data(), HSTU_DTYPE_F32, static_cast<int64_t>(values.size() + 1));
    double sum = 0;
    for (const float v : values) sum += static_cast<double>(v);
    sum_ = sum;
  }

  void queue(CUstream stream) const {
    ASSERT_EQ(hstu_complete_cumsum(test::test_device()->context, &args_, stream), HSTU_OK) << hstu_last_error();
  }
  void poison() { out_->write(std::vector<uint8_t>(out_->bytes(), 0xff).data(), out_->bytes()); }
  std::vector<uint32_t> result() const { return out_->read<uint32_t>(); }
  double sum() const { return sum_; }

 private:
  std::unique_ptr<DeviceBuffer> values_, out_;
  hstu_complete_cumsum_args args_{};
  double sum_ = 0;
};

class CumsumStreams : public testing::Test {
 protected:
  void SetUp() override {
    HSTU_NEEDS_GPU();
    for (uint32_t i = 0; i < 64; ++i) {
      Call& call = calls_.emplace_back(i);
      call.poison();
      call.queue(nullptr);
      test::gpu()->driver->cuStreamSynchronize(nullptr);
      alone_.push_back(call.result());
      const auto last = static_cast<double>(std::bit_cast<float>(alone_.back().back()));
      ASSERT_NEAR(last, call.sum(), 1e-6 * std::abs(call.sum()) + 1e-6);
      call.poison();
    }
  }
  void expect_as_alone() {
    size_t i = 0;
    for (Call& call : calls_) {
      EXPECT_EQ(call.result() == alone_[i], true) << "call " << i;
      ++i;
      call.poison();
    }
  }
  void queue_on(const Streams& streams) {
    size_t i = 0;
    for (const Call& call : calls_) call.queue(streams[i++ % streams.size()]);
  }

  std::list<Call> calls_;
  std::vector<std::vector<uint32_t>> alone_;
};

TEST_F(CumsumStreams, AtOnceGiveWhatEachGivesAlone) {
  for (const size_t count : {2, 32}) {
    const Streams streams(count);
    for (int round = 0; round < 10; ++round) {
      queue_on(streams);
      streams.wait();
      expect_as_alone();
    }
  }
}

TEST_F(CumsumStreams, BranchesOfGraphsGiveWhatEachGivesAlone) {
  const Streams streams(16);
  const test::BranchedGraph graph(streams, [&] { queue_on(streams); });
  for (int replay = 0; replay < 5; ++replay) {
    graph.launch(streams[0]);
    streams.wait();
    expect_as_alone();
  }
}

}  // namespace
}  // namespace hstujit
