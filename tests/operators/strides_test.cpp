// What strides may be: zeros that mean contiguous and zeros that are meant, over all tensors of all operators. An
// expanded input, whose indices along a dimension are one place in memory, is worth what a copy of it is; an output
// must not be one.
#include "operators/sample_args.hpp"
#include "support/small_calls.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace hstujit {
namespace {

std::string refusal(const Operator& op, ArgsBytes args) {
  try {
    op.prepare(args.data());
    return {};
  } catch (const Error& error) {
    return error.status() == HSTU_ERROR_INVALID_ARGUMENT ? error.message() : "another status: " + error.message();
  }
}

void set_contiguous(hstu_tensor& t) {
  for (int64_t d = t.rank - 1, stride = 1; d >= 0; stride *= t.shape[d--]) t.stride[d] = stride;
}

/// The tensor's elements one behind another.
std::vector<std::byte> gathered(const hstu_tensor& t) {
  const auto size = static_cast<size_t>(size_of(t.dtype));
  int64_t count = 1;
  for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
  std::vector<std::byte> out(static_cast<size_t>(count) * size);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, rest = i;
    for (int d = t.rank - 1; d >= 0; rest /= t.shape[d--]) offset += rest % t.shape[d] * t.stride[d];
    std::memcpy(&out[static_cast<size_t>(i) * size],
                static_cast<const std::byte*>(t.data) + static_cast<size_t>(offset) * size, size);
  }
  return out;
}

/// Outputs of the call with `t` in the slot, by the reference; the call is made anew, so that what it adds to is.
std::vector<std::byte> outputs_with(const Calls& calls, const TensorSlot& slot, const hstu_tensor& t) {
  const test::SmallCall call(calls);
  ArgsBytes args = call.args();
  tensor_at(static_cast<void*>(args.data()), slot) = t;
  call.op().prepare(args.data());
  call.op().reference(args.data(), nullptr);
  return call.outputs();
}

/// Calls visit(call, slot, dim) for every dimension of more than one element of all tensors of this kind.
template <class Visit>
void for_each_dimension(bool outputs, const Visit& visit) {
  for (const Calls& calls : test::small_calls()) {
    const test::SmallCall call(calls);
    for (const TensorSlot& slot : call.op().tensors) {
      if ((slot.role == TensorRole::output) != outputs) continue;
      const ArgsBytes args = call.args();
      const hstu_tensor& t = tensor_at(static_cast<const void*>(args.bytes.data()), slot);
      for (int d = 0; d < t.rank; ++d) {
        SCOPED_TRACE(calls.name + ": " + std::string(slot.name) + ", dimension " + std::to_string(d));
        if (t.shape[d] > 1) visit(calls, call, slot, d);
      }
    }
  }
}

TEST(Strides, AnExpandedInputIsWorthItsCopy) {
  int compared = 0;
  for_each_dimension(false, [&](const Calls& calls, const test::SmallCall& call, const TensorSlot& slot, int d) {
    ArgsBytes args = call.args();
    hstu_tensor& t = tensor_at(static_cast<void*>(args.data()), slot);
    set_contiguous(t);
    t.stride[d] = 0;
    t.flags = HSTU_STRIDES_GIVEN;
    if (const std::string message = refusal(call.op(), args); !message.empty()) {
      EXPECT_NE(message.find(std::string(slot.name) + ".stride"), std::string::npos) << message;
      EXPECT_TRUE(d + 1 == t.rank || slot.name == "moments") << message;
      return;
    }
    const std::vector<std::byte> elements = gathered(t);
    hstu_tensor copy = t;
    copy.data = const_cast<std::byte*>(elements.data());
    set_contiguous(copy);
    EXPECT_EQ(outputs_with(calls, slot, t), outputs_with(calls, slot, copy));
    ++compared;
  });
  EXPECT_GT(compared, 60);
}

TEST(Strides, NoOutputLiesOnItself) {
  int refused = 0;
  for_each_dimension(true, [&](const Calls&, const test::SmallCall& call, const TensorSlot& slot, int d) {
    ArgsBytes args = call.args();
    hstu_tensor& t = tensor_at(static_cast<void*>(args.data()), slot);
    for (const bool all : {false, true}) {
      set_contiguous(t);
      t.stride[d] = 0;
      if (all) std::fill_n(t.stride, t.rank, 0);
      t.flags = HSTU_STRIDES_GIVEN;
      const std::string message = refusal(call.op(), args);
      EXPECT_NE(message.find(std::string(slot.name) + ".stride"), std::string::npos) << message;
      ++refused;
    }
  });
  EXPECT_GT(refused, 100);
}

TEST(Strides, WhatIsPreparedStaysWhatItIs) {
  for (const Calls& calls : test::small_calls()) {
    SCOPED_TRACE(calls.name);
    const test::SmallCall call(calls);
    ArgsBytes once = call.args();
    const Problem problem = call.op().prepare(once.data());
    ArgsBytes twice = once;
    EXPECT_EQ(call.op().prepare(twice.data()), problem);
    EXPECT_EQ(std::memcmp(twice.data(), once.data(), call.op().args_size), 0);
  }
}

hstu_addmm_args addmm_of(const hstu_tensor& x) {
  auto args = test::sample_addmm();
  args.x = x;
  return args;
}

TEST(Strides, ZerosMeanContiguousUnlessTheyAreGiven) {
  hstu_tensor x = test::stored(0, HSTU_DTYPE_F16, 40, 64, 0, 0);
  auto open = addmm_of(x);
  const Problem contiguous = prepare(open);
  EXPECT_EQ(open.x.stride[0], 64);
  EXPECT_EQ(open.x.stride[1], 1);
  EXPECT_EQ(open.x.flags, HSTU_STRIDES_GIVEN);
  x.flags = HSTU_STRIDES_GIVEN;
  auto given = addmm_of(x);
  EXPECT_NE(prepare(given), contiguous);
  EXPECT_EQ(given.x.stride[0], 0);
  EXPECT_EQ(given.x.stride[1], 0);
  EXPECT_EQ(extent_bytes(given.x), 2) << "one element";
}

TEST(Strides, OfOneElementOrNoneAreAnybodys) {
  auto args = test::sample_layer_norm();
  args.x = test::stored(0, HSTU_DTYPE_BF16, 40, 1, 0, 0);
  args.x.flags = HSTU_STRIDES_GIVEN;
  args.weight = args.bias = {};
  args.out = hstu_matrix(test::slot(3), HSTU_DTYPE_BF16, 40, 1);
  EXPECT_NO_THROW(prepare(args));
  EXPECT_EQ(args.x.stride[0], 0);
  EXPECT_EQ(args.x.stride[1], 1);
}

using Norm = hstu_layer_norm_args;
class StridesRefused : public testing::TestWithParam<test::Spoiled<Norm>> {};
TEST_P(StridesRefused, ByName) { test::expect_refused(test::sample_layer_norm(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    All, StridesRefused,
    testing::Values(
        test::Spoiled<Norm>{"UnknownFlags", [](Norm& a) { a.x.flags = 2; }, test::kInvalid, "x.flags = 2"},
        test::Spoiled<Norm>{"OneMoreFlag", [](Norm& a) { a.x.flags = HSTU_STRIDES_GIVEN | 0x8000; }, test::kInvalid,
                            "x.flags = 32769"},
        test::Spoiled<Norm>{"Negative", [](Norm& a) { a.x.stride[0] = -96, a.x.flags = HSTU_STRIDES_GIVEN; },
                            test::kInvalid, "x.stride[0] = -96"},
        test::Spoiled<Norm>{"GivenLastOfZero",
                            [](Norm& a) { a.x.stride[0] = a.x.stride[1] = 0, a.x.flags = HSTU_STRIDES_GIVEN; },
                            test::kInvalid, "x.stride[1] = 0: the last stride must be 1"},
        test::Spoiled<Norm>{"LastOfZero", [](Norm& a) { a.x.stride[1] = 0; }, test::kInvalid,
                            "x.stride[1] = 0: the last stride must be 1"},
        test::Spoiled<Norm>{"GivenVectorOfZero",
                            [](Norm& a) { a.weight.stride[0] = 0, a.weight.flags = HSTU_STRIDES_GIVEN; },
                            test::kInvalid, "weight.stride[0] = 0: the last stride must be 1"},
        test::Spoiled<Norm>{"ExpandedOutput", [](Norm& a) { a.out.stride[0] = 0; }, test::kInvalid,
                            "out.stride[0] = 0: an output must not overlap itself"}),
    test::kNameOf);

TEST(Strides, AnExpandedInputMayLieBetweenTheColumnsOfAnOutput) {
  auto args = test::sample_addmm();
  args.residual = {};
  args.out = test::stored(3, HSTU_DTYPE_F16, 40, 96, 128, 1);
  args.bias = hstu_vector(static_cast<std::byte*>(test::slot(3)) + 2 * 100, HSTU_DTYPE_F16, 96);
  args.bias.stride[0] = 0;
  args.bias.flags = HSTU_STRIDES_GIVEN;
  EXPECT_NO_THROW(prepare(args));
  args.bias.data = static_cast<std::byte*>(test::slot(3)) + 2 * 90;
  EXPECT_THROW(prepare(args), Error);
}

}  // namespace
}  // namespace hstujit
