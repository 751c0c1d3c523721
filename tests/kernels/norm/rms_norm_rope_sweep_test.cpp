// RMS norm with rotary position embedding on the device against the oracle.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

struct Case {
  hstu_dtype dtype, weight, angle;
  int64_t batch, length, hidden, head_dim;
  bool half = false;  ///< angles of half a head only
  Layout x{}, y{}, weights{}, angles{};
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}_{}x{}x{}_d{}{}_pad{}_{}_{}_shift{}_{}_{}_{}", name_of(c.dtype), name_of(c.weight),
                     name_of(c.angle), c.batch, c.length, c.hidden, c.head_dim, c.half ? "half" : "", c.x.row_padding,
                     c.y.row_padding, c.angles.row_padding, c.x.shift, c.y.shift, c.weights.shift, c.angles.shift);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

/// [batch * length, hidden] as [batch, length, hidden].
hstu_tensor batched(hstu_tensor t, const Case& c) {
  t.rank = 3;
  t.shape[2] = c.hidden, t.shape[1] = c.length, t.shape[0] = c.batch;
  t.stride[2] = 1, t.stride[1] = t.stride[0], t.stride[0] = c.length * t.stride[1];
  return t;
}

hstu_rms_norm_rope_args args_of(HostMemory& memory, const Case& c) {
  hstu_rms_norm_rope_args args{};
  args.struct_size = sizeof args;
  args.x = batched(memory.random(c.dtype, {c.batch * c.length, c.hidden}, c.x), c);
  args.out = batched(memory.poison(c.dtype, {c.batch * c.length, c.hidden}, c.y), c);
  args.weight = memory.random(c.weight, {c.hidden}, c.weights, 1, 0.3);
  const int64_t columns = c.half ? c.head_dim / 2 : c.head_dim;
  args.cosine = memory.random(c.angle, {c.length, columns}, c.angles);  // any numbers will do
  args.sine = memory.random(c.angle, {c.length, columns}, c.angles);
  args.head_dim = c.half ? c.head_dim : 0;
  return args;
}

class RmsNormRopeSweep : public testing::TestWithParam<Case> {};

TEST_P(RmsNormRopeSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Case& c = GetParam();
  test::expect_correct(memory, args_of(memory, c), &hstu_rms_norm_rope_args::out, test::rounded_once(c.dtype));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t hidden : {256, 512, 1024, 2048, 4096, 8192})
    for (const int64_t head_dim : {32, 64, 128}) all.push_back({kBf16, kBf16, kBf16, 2, 17, hidden, head_dim});
  for (const hstu_dtype dtype : {kF32, kF16})
    for (const int64_t head_dim : {2, 6, 24, 48}) all.push_back({dtype, dtype, dtype, 3, 13, 8 * head_dim, head_dim});
  for (const hstu_dtype angle : {kF32, kF16}) {
    all.push_back({kBf16, kF32, angle, 2, 33, 512, 64});
    all.push_back({kF32, kBf16, angle, 2, 33, 512, 64});
  }
  all.push_back({kBf16, kBf16, kF32, 1, 1, 64, 64});
  all.push_back({kBf16, kBf16, kF32, 5, 1, 512, 64});
  all.push_back({kBf16, kBf16, kF32, 1, 5001, 256, 32});
  all.push_back({kBf16, kBf16, kF32, 2, 3, 24576, 128});
  all.push_back({kF32, kF32, kF32, 1, 3, 20002, 2});
  all.push_back({kF16, kF16, kF16, 1, 3, 96, 96});
  all.push_back({kBf16, kBf16, kF32, 2, 33, 512, 64, true});
  const Case base{kBf16, kBf16, kBf16, 2, 21, 512, 64};
  for (const Layout& layout : {Layout{.row_padding = 64}, {.row_padding = 4}, {.row_padding = 1}, {.shift = 2}})
    for (Layout Case::*place : {&Case::x, &Case::y, &Case::angles}) {
      all.push_back(base);
      all.back().*place = layout;
    }
  all.push_back(base);
  all.back().weights.shift = 1;
  return all;
}

const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Cases, RmsNormRopeSweep, testing::ValuesIn(cases()), kNameOf);

TEST(RmsNormRopeOnDevice, MayWorkInPlace) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t hidden : {96, 1920, 24576}) {
    HostMemory memory;
    auto args = args_of(memory, {kBf16, kBf16, kBf16, 2, 9, hidden, 96});
    args.out = args.x;
    test::expect_correct(memory, args, &hstu_rms_norm_rope_args::out, test::rounded_once(kBf16));
  }
}

TEST(RmsNormRopeOnDevice, TakesBatchesOfAnyStride) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of(memory, {kBf16, kBf16, kBf16, 4, 10, 256, 64});
  for (hstu_tensor* t : {&args.x, &args.out}) t->shape[1] = 7;  // of ten rows in memory
  args.cosine.shape[0] = args.sine.shape[0] = 7;
  test::expect_correct(memory, args, &hstu_rms_norm_rope_args::out, test::rounded_once(kBf16));
}

TEST(RmsNormRopeOnDevice, NothingToDo) {
  HSTU_NEEDS_DEVICE();
  for (const auto& [batch, length] : {std::pair<int64_t, int64_t>{0, 5}, {5, 0}}) {
    HostMemory memory;
    test::expect_correct(memory, args_of(memory, {kBf16, kBf16, kBf16, batch, length, 256, 64}),
                         &hstu_rms_norm_rope_args::out, test::rounded_once(kBf16));
  }
}

}  // namespace
}  // namespace hstujit
