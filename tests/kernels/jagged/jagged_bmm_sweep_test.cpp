// Products of sequences with matrices of their own on the device against the oracle: biases, storage orders, ragged
// sequences, odd extents, layouts; matrices of sequences without rows hold NaN.
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hstujit {
namespace {

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

enum class Bias { none, sequence, element };

struct Case {
  const char* name;
  hstu_dtype dtype = kBf16, bias_dtype = kBf16, offsets = HSTU_DTYPE_I64;
  std::vector<int64_t> lengths{130, 0, 1, 64, 300, 17, 0};
  int64_t k = 64, n = 96;
  Bias bias = Bias::sequence;
  bool transposed = false;
  bool apart = false;   ///< every other element of the matrices' rows
  bool shared = false;  ///< one matrix for all sequences: batch stride 0
  int64_t spare = 0;    ///< rows behind the last sequence
  Layout jagged{}, dense{}, out{};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

hstu_tensor dense_of(HostMemory& memory, const Case& c) {
  const int64_t batch = c.shared ? 1 : static_cast<int64_t>(c.lengths.size());
  const int64_t step = c.apart ? 2 : 1;
  const int64_t rows = c.transposed ? c.n : c.k, columns = step * (c.transposed ? c.k : c.n);
  const hstu_tensor t =
      memory.random(c.dtype, {batch * rows, columns}, c.dense, 0, 1 / std::sqrt(static_cast<double>(c.k) + 1));
  for (int64_t b = 0; b < batch && !c.shared; ++b)
    if (c.lengths[static_cast<size_t>(b)] == 0) test::fill(test::rows_of(t, b * rows, rows), std::nan(""));
  hstu_tensor dense{t.data, t.dtype, 3, 0, {static_cast<int64_t>(c.lengths.size()), c.k, c.n}, {}};
  dense.stride[0] = c.shared ? 0 : rows * t.stride[0];
  dense.stride[1] = c.transposed ? step : t.stride[0];
  dense.stride[2] = c.transposed ? t.stride[0] : step;
  return dense;
}

hstu_jagged_dense_bmm_broadcast_add_args args_of(HostMemory& memory, const Case& c) {
  int64_t rows = c.spare;
  for (const int64_t length : c.lengths) rows += length;
  hstu_jagged_dense_bmm_broadcast_add_args args{};
  args.struct_size = sizeof args;
  args.jagged = memory.random(c.dtype, {rows, c.k}, c.jagged);
  args.dense = dense_of(memory, c);
  args.seq_offsets = memory.integers(c.offsets, test::offsets_of(c.lengths));
  args.out = memory.poison(c.dtype, {rows, c.n}, c.out);
  args.elementwise = c.bias == Bias::element;
  if (c.bias == Bias::sequence) args.bias = memory.random(c.bias_dtype, {static_cast<int64_t>(c.lengths.size()), c.n});
  if (c.bias == Bias::element) args.bias = memory.random(c.dtype, {rows, c.n}, c.out);
  return args;
}

class JaggedBmmSweep : public testing::TestWithParam<Case> {};

TEST_P(JaggedBmmSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  const auto args = args_of(memory, c);
  test::expect_correct(memory, args, &hstu_jagged_dense_bmm_broadcast_add_args::out, test::rounded_once(c.dtype));
}

std::vector<Case> cases() {
  std::vector<int64_t> many;
  for (int64_t b = 0; b < 700; ++b) many.push_back(b * 11 % 23);
  const std::vector<int64_t> ragged{1500, 0, 1, 900, 64, 63, 1300, 400};  // rows enough for tiles of every SM
  const Layout gap{.row_padding = 8}, odd{.row_padding = 1}, shifted{.shift = 2};
  return {{.name = "Usual", .lengths = {700, 900, 0, 1100}, .k = 512, .n = 512},
          {.name = "ManyTiles", .lengths = ragged, .k = 320, .n = 640},
          {.name = "ManyTilesTransposedElementwise",
           .lengths = ragged,
           .k = 256,
           .n = 1280,
           .bias = Bias::element,
           .transposed = true},
          {.name = "NoBias", .bias = Bias::none},
          {.name = "ElementwiseBias", .bias = Bias::element},
          {.name = "F32Bias", .bias_dtype = kF32},
          {.name = "F16", .dtype = kF16, .bias_dtype = kF16},
          {.name = "F32", .dtype = kF32, .bias_dtype = kF32},
          {.name = "Transposed", .transposed = true},
          {.name = "TransposedF16Elementwise", .dtype = kF16, .bias = Bias::element, .transposed = true},
          {.name = "Apart", .apart = true},
          {.name = "ApartManyTiles", .lengths = ragged, .k = 130, .n = 700, .bias = Bias::element, .apart = true},
          {.name = "ApartTransposedF32", .dtype = kF32, .bias_dtype = kF32, .transposed = true, .apart = true},
          {.name = "I32Offsets", .offsets = HSTU_DTYPE_I32},
          {.name = "SharedMatrix", .shared = true},
          {.name = "OddExtents", .dtype = kF16, .bias_dtype = kF16, .k = 33, .n = 20},
          {.name = "OddExtentsTransposed", .k = 67, .n = 131, .transposed = true},
          {.name = "OddExtentsElementwise", .k = 35, .n = 70, .bias = Bias::element},
          {.name = "NoDepth", .k = 0, .n = 64},
          {.name = "OneByOne", .k = 1, .n = 1},
          {.name = "Deep", .lengths = {40, 3}, .k = 1000, .n = 40},
          {.name = "Wide", .lengths = {40, 300}, .k = 40, .n = 1000},
          {.name = "ManyShortSequences", .lengths = many, .k = 32, .n = 32},
          {.name = "LongSequence", .lengths = {0, 5000, 3}, .k = 128, .n = 128},
          {.name = "RowsBehindTheLast", .spare = 77},
          {.name = "NoSequence", .lengths = {}},
          {.name = "NoSequenceButRows", .lengths = {}, .spare = 9},
          {.name = "AllEmpty", .lengths = {0, 0}},
          {.name = "Gaps", .bias = Bias::element, .jagged = gap, .dense = gap, .out = gap},
          {.name = "OddGapInJagged", .jagged = odd},
          {.name = "OddGapInDense", .dense = odd},
          {.name = "OddGapInOut", .bias = Bias::element, .out = odd},
          {.name = "Shifted", .jagged = shifted, .dense = shifted, .out = shifted}};
}

INSTANTIATE_TEST_SUITE_P(Cases, JaggedBmmSweep, testing::ValuesIn(cases()), kNameOf);

}  // namespace
}  // namespace hstujit
