// Concatenations of jagged vectors at once on several streams and in branches of graphs, all with units that warps take
// from their launch's counter: every call's result is the one it has alone, and that is the right one.
#include "support/calls_at_once.hpp"
#include "support/device_call.hpp"

#include <list>

namespace hstujit {
namespace {

using test::DeviceBuffer;

/// One call on vectors of its own; a fourth of them have more sequences than a block keeps sums of.
class Call {
 public:
  explicit Call(uint32_t seed) {
    test::HostMemory memory(seed);
    Random& random = memory.random_numbers();
    const size_t batch = 2 + random.below(seed % 4 == 0 ? 20000 : 600);
    std::vector<int32_t> left, right;
    for (auto* part : {&left, &right})
      for (size_t b = 0; b < batch; ++b)
        part->push_back(random.below(5) == 0 ? 0 : static_cast<int32_t>(1 + random.below(6'000'000 / batch)));
    left[0] = right[0] = 1;
    const auto left_values = values(left, random), right_values = values(right, random);
    auto from_left = left_values.begin(), from_right = right_values.begin();
    for (size_t b = 0; b < batch; ++b) {
      expected_.insert(expected_.end(), from_left, from_left + left[b]);
      expected_.insert(expected_.end(), from_right, from_right + right[b]);
      from_left += left[b];
      from_right += right[b];
    }
    args_.struct_size = sizeof args_;
    args_.lengths_left = given(left, HSTU_DTYPE_I32);
    args_.lengths_right = given(right, HSTU_DTYPE_I32);
    args_.left = given(left_values, HSTU_DTYPE_F32);
    args_.right = given(right_values, HSTU_DTYPE_F32);
    args_.out = given(expected_, HSTU_DTYPE_F32);
  }

  void queue(CUstream stream) const {
    ASSERT_EQ(hstu_concat_1d_jagged(test::test_device()->context, &args_, stream), HSTU_OK) << hstu_last_error();
  }
  void poison() {
    buffers_.back().write(std::vector<uint8_t>(expected_.size() * 4, 0xff).data(), expected_.size() * 4);
  }
  std::vector<uint32_t> result() const { return buffers_.back().read<uint32_t>(); }
  const std::vector<uint32_t>& expected() const { return expected_; }

 private:
  static std::vector<uint32_t> values(const std::vector<int32_t>& lengths, Random& random) {
    size_t count = 0;
    for (const int32_t length : lengths) count += static_cast<size_t>(length);
    std::vector<uint32_t> out(count);
    for (uint32_t& value : out) value = static_cast<uint32_t>(random.bits());
    return out;
  }
  template <class T>
  hstu_tensor given(const std::vector<T>& values, hstu_dtype dtype) {
    buffers_.emplace_back(values.data(), values.size() * 4);
    return hstu_vector(buffers_.back().data(), dtype, static_cast<int64_t>(values.size()));
  }

  std::list<DeviceBuffer> buffers_;  ///< the result is the last
  hstu_concat_1d_jagged_args args_{};
  std::vector<uint32_t> expected_;
};

class JaggedVectorStreams : public test::CallsAtOnce<Call> {
 protected:
  void SetUp() override {
    HSTU_NEEDS_GPU();
    make(24);
    auto alone = alone_.begin();
    for (const Call& call : calls_) ASSERT_TRUE(*alone++ == call.expected());
  }
};

TEST_F(JaggedVectorStreams, AtOnceGiveWhatEachGivesAlone) { expect_same_on_streams(12, 5); }
TEST_F(JaggedVectorStreams, BranchesOfGraphsGiveWhatEachGivesAlone) { expect_same_in_a_graph(8, 5); }

}  // namespace
}  // namespace hstujit
