// Layer norm and product in one on the device against the oracle: types, layouts, ragged rows and columns, biases,
// activations, results in parts.
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;

struct Case {
  hstu_dtype dtype, weight_dtype, bias_dtype;
  int64_t m, k;
  std::vector<int64_t> n;  ///< of each part
  int64_t activated = 0;   ///< columns
  bool w_transposed = false;
  double mean = 0;  ///< of x, in its deviations
};

std::string name_of_case(const Case& c) {
  std::string parts;
  for (const int64_t n : c.n) parts += fmt::format("{}{}", parts.empty() ? "" : "_", n);
  return fmt::format("{}_{}_{}_{}x{}x{}_a{}_t{}_m{}", name_of(c.dtype), name_of(c.weight_dtype), name_of(c.bias_dtype),
                     c.m, c.k, parts, c.activated, int{c.w_transposed}, static_cast<int>(c.mean));
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

using Args = hstu_norm_addmm_args;

Args args_of(HostMemory& memory, const Case& c) {
  const int64_t columns = std::accumulate(c.n.begin(), c.n.end(), int64_t{0});
  Args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.m, c.k}, {.row_padding = 8}, c.mean);
  args.norm_weight = memory.random(c.weight_dtype, {c.k}, {}, 1, 0.3);
  args.norm_bias = memory.random(c.weight_dtype, {c.k}, {}, 0, 0.3);
  const double size = 1 / std::sqrt(static_cast<double>(c.k));
  args.w = c.w_transposed ? test::transposed(memory.random(c.dtype, {columns, c.k}, {}, 0, size))
                          : memory.random(c.dtype, {c.k, columns}, {}, 0, size);
  if (c.bias_dtype != kNone) args.bias = memory.random(c.bias_dtype, {columns});
  // The first as the layer has it: columns of the rows that the output stage reads.
  hstu_tensor* const parts[] = {&args.out, &args.out1, &args.out2, &args.out3};
  for (size_t part = 0; part < c.n.size(); ++part)
    *parts[part] = memory.poison(c.dtype, {c.m, c.n[part]}, {.row_padding = part == 0 ? 64 : 0});
  args.activation = c.activated > 0 ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE;
  args.activation_columns = c.activated;
  return args;
}

class NormAddmmSweep : public testing::TestWithParam<Case> {};

TEST_P(NormAddmmSweep, EqualsTheOracle) {
  HostMemory memory;
  const Args args = args_of(memory, GetParam());
  HSTU_NEEDS_DEVICE_THAT_TAKES(args);
  // Normed rows are rounded as the oracle has them, but from f32: now and then to a neighbour.
  test::Tolerance tolerance = test::rounded_once(GetParam().dtype);
  tolerance.ulps_of_row = 0.35;
  test::expect_correct(memory, args, {&Args::out, &Args::out1, &Args::out2, &Args::out3}, tolerance);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const hstu_dtype dtype : {kBf16, kF16})
    for (const hstu_dtype weight : {dtype, kF32})
      for (const bool transposed : {false, true})
        for (const hstu_dtype bias : {dtype, kF32, kNone})
          all.push_back({dtype, weight, bias, 333, 128, {192}, 72, transposed});
  for (const int64_t m : {1, 63, 64, 65, 128, 129, 1000})
    for (const bool split : {false, true})
      all.push_back(
          {kBf16, kBf16, kBf16, m, 192, split ? std::vector<int64_t>{64, 256} : std::vector<int64_t>{320}, 64});
  for (const int64_t k : {64, 128, 192, 256, 320, 384, 448, 512})
    for (const int64_t n : {8, 64, 136, 512}) all.push_back({kBf16, kF32, kBf16, 200, k, {n}, n});
  all.push_back({kBf16, kBf16, kBf16, 300, 256, {64, 192, 128, 72}, 64});
  all.push_back({kF16, kF16, kF32, 300, 512, {128, 64, 64}, 0, true});
  all.push_back({kBf16, kBf16, kBf16, 20011, 512, {256, 768}, 256});  // more rows than blocks take at a time
  all.push_back({kF16, kF16, kF16, 50011, 64, {128}, 100});
  all.push_back({kBf16, kF32, kNone, 20011, 128, {64}, 0, true});
  all.push_back({kF16, kF16, kF16, 300, 256, {256}, 256, false, 100});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, NormAddmmSweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

}  // namespace
}  // namespace hstujit
