// Long prefix sums from many streams at once, more than there are boards, and from branches of graphs that are
// replayed: every call's result is the one it has alone, to the bit.
#include "support/calls_at_once.hpp"
#include "support/device_call.hpp"

#include <bit>
#include <cmath>
#include <numeric>

namespace hstujit {
namespace {

using test::DeviceBuffer;

/// One call on a vector of its own, f32, whose sums have rounding to get wrong.
class Call {
 public:
  explicit Call(uint32_t seed) {
    test::HostMemory memory(seed);
    const auto count = 33000 + static_cast<int64_t>(memory.random_numbers().below(seed % 8 == 0 ? 3000000 : 170000));
    const auto* const values = static_cast<const float*>(memory.random(HSTU_DTYPE_F32, {count}).data);
    const auto bytes = static_cast<size_t>(count) * 4;
    values_ = std::make_unique<DeviceBuffer>(values, bytes);
    out_ = std::make_unique<DeviceBuffer>(bytes + 4);
    args_.struct_size = sizeof args_;
    args_.values = hstu_vector(values_->data(), HSTU_DTYPE_F32, count);
    args_.out = hstu_vector(out_->data(), HSTU_DTYPE_F32, count + 1);
    sum_ = std::accumulate(values, values + count, 0.0);
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

class CumsumStreams : public test::CallsAtOnce<Call> {
 protected:
  void SetUp() override {
    HSTU_NEEDS_GPU();
    make(64);
    auto alone = alone_.begin();
    for (const Call& call : calls_) {
      const auto last = static_cast<double>(std::bit_cast<float>((alone++)->back()));
      ASSERT_NEAR(last, call.sum(), 1e-6 * std::abs(call.sum()) + 1e-6);
    }
  }
};

TEST_F(CumsumStreams, AtOnceGiveWhatEachGivesAlone) {
  for (const size_t count : {2, 32}) expect_same_on_streams(count, 10);
}
TEST_F(CumsumStreams, BranchesOfGraphsGiveWhatEachGivesAlone) { expect_same_in_a_graph(16, 5); }

}  // namespace
}  // namespace hstujit
