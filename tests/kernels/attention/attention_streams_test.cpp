// Attention called from several streams at once, and from branches of graphs that are replayed: every call's result is
// the one it has alone.
#include "support/attention_cases.hpp"
#include "support/calls_at_once.hpp"

namespace hstujit {
namespace {

using test::DeviceBuffer;

/// One call on sequences and numbers of its own, bf16, 2 heads of 64.
class Call {
 public:
  explicit Call(uint32_t seed) : memory_(seed), offsets_(lengths()) {
    const int64_t total = offsets_.back();
    const auto tensor = [&](const DeviceBuffer& buffer) {
      return hstu_heads(buffer.data(), HSTU_DTYPE_BF16, total, kHeads, kDim);
    };
    q_ = normal(total), k_ = normal(total), v_ = normal(total);
    out_ = std::make_unique<DeviceBuffer>(bytes(total));
    offsets_on_device_ = std::make_unique<DeviceBuffer>(offsets_.data(), offsets_.size() * 8);
    args_.struct_size = sizeof args_;
    args_.q = tensor(*q_), args_.k = tensor(*k_), args_.v = tensor(*v_), args_.out = tensor(*out_);
    args_.seq_offsets = hstu_vector(offsets_on_device_->data(), HSTU_DTYPE_I64, static_cast<int64_t>(offsets_.size()));
    args_.max_seq_len = 700;
  }

  void queue(CUstream stream) const {
    ASSERT_EQ(hstu_attention(test::test_device()->context, &args_, stream), HSTU_OK) << hstu_last_error();
  }
  void poison() { out_->write(std::vector<uint8_t>(out_->bytes(), 0xff).data(), out_->bytes()); }
  std::vector<uint16_t> result() const { return out_->read<uint16_t>(); }

 private:
  static constexpr int64_t kHeads = 2, kDim = 64;
  static size_t bytes(int64_t rows) { return static_cast<size_t>(rows * kHeads * kDim) * 2; }

  std::vector<int64_t> lengths() {
    std::vector<int64_t> offsets{0};
    for (int i = 0; i < 40; ++i)
      offsets.push_back(offsets.back() + static_cast<int64_t>(memory_.random_numbers().below(701)));
    return offsets;
  }
  std::unique_ptr<DeviceBuffer> normal(int64_t rows) {
    const hstu_tensor t = memory_.random(HSTU_DTYPE_BF16, {rows * kHeads * kDim});
    return std::make_unique<DeviceBuffer>(t.data, bytes(rows));
  }

  test::HostMemory memory_;
  std::vector<int64_t> offsets_;
  std::unique_ptr<DeviceBuffer> q_, k_, v_, out_, offsets_on_device_;
  hstu_attention_args args_{};
};

class AttentionStreams : public test::CallsAtOnce<Call> {
 protected:
  void SetUp() override {
    HSTU_NEEDS_GPU();
    make(32);
  }
};

TEST_F(AttentionStreams, AtOnceGiveWhatEachGivesAlone) { expect_same_on_streams(8, 10); }
TEST_F(AttentionStreams, BranchesOfGraphsGiveWhatEachGivesAlone) { expect_same_in_a_graph(8, 5); }

}  // namespace
}  // namespace hstujit
