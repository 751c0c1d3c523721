// prepare() of all operators with extents, strides and attributes at the ends of their types: it refuses them or says
// twice the same, and never adds up what 64 bits cannot hold, which sanitizers would tell.
#include "support/error.hpp"
#include "support/random.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace hstujit {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : random_(seed) {}

  bool one_in(uint64_t count) { return random_.below(count) == 0; }
  int64_t integer() {
    constexpr int64_t kAll[] = {0,
                                0,
                                1,
                                2,
                                8,
                                127,
                                int64_t{1} << 31,
                                (int64_t{1} << 31) - 1,
                                int64_t{1} << 40,
                                int64_t{1} << 61,
                                int64_t{1} << 62,
                                kMost,
                                kMost / 2,
                                kMost / 3,
                                -1,
                                -kMost - 1};
    return kAll[random_.below(std::size(kAll))];
  }
  float number() {
    const float all[] = {0, 1, -1, 1e-45f, 1e-30f, 3e38f, HUGE_VALF, std::nanf("")};
    return all[random_.below(std::size(all))];
  }

 private:
  Random random_;
};

void spoil(const ScalarSlot& slot, Numbers& numbers, std::byte* at) {
  const int64_t wide = numbers.integer();
  const auto narrow = static_cast<int32_t>(wide);
  const float number = numbers.number();
  if (slot.kind == ScalarSlot::Kind::i64) std::memcpy(at, &wide, sizeof wide);
  if (slot.kind == ScalarSlot::Kind::i32) std::memcpy(at, &narrow, sizeof narrow);
  if (slot.kind == ScalarSlot::Kind::f32) std::memcpy(at, &number, sizeof number);
}

/// Extents that were the same stay so mostly, so that some calls fit together.
void spoil(const Operator& op, Numbers& numbers, ArgsBytes& args) {
  std::map<int64_t, int64_t> becomes;
  const bool together = !numbers.one_in(3);
  for (const TensorSlot& slot : op.tensors) {
    hstu_tensor& t = tensor_at(static_cast<void*>(args.data()), slot);
    for (int d = 0; d < t.rank; ++d) {
      const int64_t before = t.shape[d];
      if (!becomes.contains(before) || !together) becomes[before] = numbers.one_in(4) ? numbers.integer() : before;
      t.shape[d] = becomes[before];
      if (numbers.one_in(8)) t.stride[d] = numbers.integer();
    }
    if (!numbers.one_in(3)) std::fill_n(t.stride, t.rank, 0);
    if (numbers.one_in(8)) t.data = nullptr;
  }
  for (const ScalarSlot& slot : op.scalars)
    if (numbers.one_in(4)) spoil(slot, numbers, args.data() + slot.offset);
}

TEST(ExtremeExtents, AreRefusedOrMeanTheSameTwice) {
  Numbers numbers(1);
  int accepted = 0;
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    for (int round = 0; round < 200; ++round) {
      ArgsBytes args = call.args();
      spoil(call.op(), numbers, args);
      try {
        const Problem once = call.op().prepare(args.data());
        ++accepted;
        ArgsBytes again = args;
        EXPECT_EQ(call.op().prepare(again.data()), once) << calls.name << " " << round;
        EXPECT_EQ(std::memcmp(again.data(), args.data(), call.op().args_size), 0) << calls.name << " " << round;
      } catch (const Error& error) { EXPECT_FALSE(error.message().empty()); }
    }
  }
  EXPECT_GE(accepted, 500);
}

}  // namespace
}  // namespace hstujit
