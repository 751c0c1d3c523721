// A tensor without dtype, data and rank is absent, whatever its extents and strides hold: over all tensors of all
// operators, prepare() makes of it what it makes of one that is all zero.
#include "support/error.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace hstujit {
namespace {

struct Prepared {
  Problem problem;
  ArgsBytes args;
};

std::optional<Prepared> prepared(const Operator& op, ArgsBytes args) {
  try {
    const Problem problem = op.prepare(args.data());
    return Prepared{problem, args};
  } catch (const Error&) { return std::nullopt; }
}

/// What a host may have left in a tensor that it takes away.
std::vector<hstu_tensor> leftovers() {
  std::vector<hstu_tensor> all;
  for (const int64_t number : {int64_t{1}, int64_t{7}, int64_t{-1}, std::numeric_limits<int64_t>::max()})
    for (const int what : {1, 2, 3}) {
      hstu_tensor t{};
      if (what & 1) std::fill_n(t.shape, HSTU_MAX_RANK, number);
      if (what & 2) std::fill_n(t.stride, HSTU_MAX_RANK, number);
      all.push_back(t);
    }
  return all;
}

TEST(AbsentTensors, AreAbsentWhateverTheirExtentsHold) {
  int absent = 0;
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    const Operator& op = call.op();
    for (const TensorSlot& slot : op.tensors) {
      SCOPED_TRACE(calls.name + ": " + std::string(slot.name));
      ArgsBytes args = call.args();
      tensor_at(static_cast<void*>(args.data()), slot) = {};
      const auto without = prepared(op, args);
      absent += without.has_value();
      for (const hstu_tensor& left : leftovers()) {
        tensor_at(static_cast<void*>(args.data()), slot) = left;
        const auto with = prepared(op, args);
        ASSERT_EQ(with.has_value(), without.has_value()) << "required tensors are missing either way";
        if (!with) continue;
        EXPECT_EQ(with->problem, without->problem);
        EXPECT_EQ(std::memcmp(with->args.data(), without->args.data(), op.args_size), 0);
      }
    }
  }
  EXPECT_GE(absent, 50);
}

TEST(AbsentTensors, HaveNeitherDataNorRank) {
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    for (const TensorSlot& slot : call.op().tensors) {
      SCOPED_TRACE(calls.name + ": " + std::string(slot.name));
      int element = 0;
      for (const hstu_tensor& half : {hstu_tensor{&element, HSTU_DTYPE_NONE, 0, 0, {}, {}},
                                      hstu_tensor{nullptr, HSTU_DTYPE_NONE, 1, 0, {}, {}}}) {
        ArgsBytes args = call.args();
        tensor_at(static_cast<void*>(args.data()), slot) = half;
        try {
          call.op().prepare(args.data());
          ADD_FAILURE() << "it was accepted";
        } catch (const Error& error) {
          EXPECT_NE(error.message().find(slot.name), std::string::npos) << error.message();
        }
      }
    }
  }
}

}  // namespace
}  // namespace hstujit
