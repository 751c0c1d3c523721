// Concatenation and splitting of jagged tensors on the device: bit for bit the reference, for every element size, both
// kinds of parts, empty and ragged sequences, gaps and misaligned rows; nothing else in memory is touched.
#include "support/device_call.hpp"

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16, kI64 = HSTU_DTYPE_I64, kI32 = HSTU_DTYPE_I32;

/// Lengths of sequences in a part; offsets NONE: a dense part, all of lengths[0].
struct Part {
  std::vector<int64_t> lengths;
  hstu_dtype offsets = kI64;
  Layout layout{};
  int64_t spare = 0;  ///< rows behind the last sequence
  int rank = 2;
};

struct Case {
  const char* name;
  hstu_dtype dtype = kBf16;
  int64_t dim = 64;
  Part left, right;
  int64_t prefix = 0;
  bool replace = false;
  Layout combined{};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

struct Tensors {
  hstu_tensor left, right, combined, offsets_left, offsets_right;
  int64_t max_len_left = 0, max_len_right = 0;
};

hstu_tensor part_tensor(HostMemory& memory, const Case& c, const Part& part) {
  int64_t rows = part.spare;
  for (const int64_t length : part.lengths) rows += length;
  if (part.rank == 2) return memory.poison(c.dtype, {rows, c.dim}, part.layout);
  const auto batch = static_cast<int64_t>(part.lengths.size());
  hstu_tensor t = memory.poison(c.dtype, {batch, part.lengths[0] * c.dim}, part.layout);  // a gap between sequences
  return {t.data, t.dtype, 3, 0, {batch, part.lengths[0], c.dim}, {t.stride[0], c.dim, 1}};
}

Tensors tensors_of(HostMemory& memory, const Case& c) {
  Tensors t{};
  t.left = part_tensor(memory, c, c.left);
  t.right = part_tensor(memory, c, c.right);
  const auto place = [&](const Part& part, hstu_tensor& offsets, int64_t& max_len) {
    if (part.offsets != HSTU_DTYPE_NONE) offsets = memory.integers(part.offsets, test::offsets_of(part.lengths));
    max_len = part.offsets == HSTU_DTYPE_NONE && part.rank == 2 && !part.lengths.empty() ? part.lengths[0] : 0;
  };
  place(c.left, t.offsets_left, t.max_len_left);
  place(c.right, t.offsets_right, t.max_len_right);
  const auto rows = [](const hstu_tensor& part) {
    return part.rank == 3 ? part.shape[0] * part.shape[1] : part.shape[0];
  };
  t.combined = memory.poison(c.dtype, {rows(t.left) + (c.replace ? 0 : rows(t.right)), c.dim}, c.combined);
  return t;
}

hstu_concat_2d_jagged_args concat_args(const Tensors& t, const Case& c) {
  hstu_concat_2d_jagged_args args{};
  args.struct_size = sizeof args;
  args.left = t.left;
  args.right = t.right;
  args.offsets_left = t.offsets_left;
  args.offsets_right = t.offsets_right;
  args.out = t.combined;
  args.max_len_left = t.max_len_left;
  args.max_len_right = t.max_len_right;
  args.n_prefix_from_right = c.prefix;
  args.is_replace = c.replace;
  return args;
}

hstu_split_2d_jagged_args split_args(const Tensors& t, const Case& c) {
  hstu_split_2d_jagged_args args{};
  args.struct_size = sizeof args;
  args.values = t.combined;
  args.left = t.left;
  args.right = t.right;
  args.offsets_left = t.offsets_left;
  args.offsets_right = t.offsets_right;
  args.max_len_left = t.max_len_left;
  args.max_len_right = t.max_len_right;
  args.n_prefix_to_right = c.prefix;
  return args;
}

class JaggedCopySweep : public testing::TestWithParam<Case> {};

TEST_P(JaggedCopySweep, ConcatenatesBitForBit) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Tensors t = tensors_of(memory, GetParam());
  test::scramble(t.left, memory.random_numbers());
  test::scramble(t.right, memory.random_numbers());
  test::expect_same_bits(memory, concat_args(t, GetParam()), {t.combined});
}

TEST_P(JaggedCopySweep, SplitsBitForBit) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  if (c.replace) GTEST_SKIP() << "replacement has no inverse";
  if (c.left.offsets == HSTU_DTYPE_NONE && c.right.offsets == HSTU_DTYPE_NONE) GTEST_SKIP() << "two dense parts";
  HostMemory memory;
  const Tensors t = tensors_of(memory, c);
  test::scramble(t.combined, memory.random_numbers());
  test::expect_same_bits(memory, split_args(t, c), {t.left, t.right});
}

/// Lengths between from and to, every fifth 0.
std::vector<int64_t> lengths(int64_t batch, int64_t from, int64_t to, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> out;
  for (int64_t b = 0; b < batch; ++b)
    out.push_back(b % 5 == 3 ? 0 : from + static_cast<int64_t>(random.bits() % static_cast<uint64_t>(to - from + 1)));
  return out;
}

std::vector<Case> shapes() {
  const std::vector<int64_t> a = lengths(23, 1, 40, 1), c = lengths(23, 0, 17, 2), none(23, 0);
  std::vector<Case> cases{
      {.name = "Usual", .dim = 512, .left = {a}, .right = {c}},
      {.name = "I32Left", .left = {a, kI32}, .right = {c, kI64}, .prefix = 2},
      {.name = "I32Right", .left = {a, kI64}, .right = {c, kI32}},
      {.name = "PrefixBeyondShortSequences", .left = {a}, .right = {c}, .prefix = 9},
      {.name = "OneSequence", .left = {{7}}, .right = {{5}}, .prefix = 1},
      {.name = "NoSequence", .left = {{}}, .right = {{}}},
      {.name = "NoSequenceButRows", .left = {{}, kI64, {}, 3}, .right = {{}, kI64, {}, 2}},
      {.name = "LeftEmpty", .left = {none}, .right = {c}},
      {.name = "RightEmpty", .left = {a}, .right = {none}},
      {.name = "AllEmpty", .left = {none}, .right = {none}},
      {.name = "RowsBehindTheLast", .left = {a, kI64, {}, 11}, .right = {c, kI64, {}, 6}, .prefix = 1},
      {.name = "ManySequences",
       .dim = 24,
       .left = {lengths(3000, 0, 3, 3)},
       .right = {lengths(3000, 0, 2, 4)},
       .prefix = 1},
      {.name = "LongSequences", .dim = 128, .left = {{3000, 1, 2500}}, .right = {{0, 1100, 7}}},
  };
  for (const hstu_dtype dtype : {kF32, HSTU_DTYPE_F16, kI32, kI64, HSTU_DTYPE_E4M3})
    cases.push_back({.name = dtype == kF32             ? "F32"
                             : dtype == kI32           ? "I32"
                             : dtype == kI64           ? "I64"
                             : dtype == HSTU_DTYPE_F16 ? "F16"
                                                       : "E4m3",
                     .dtype = dtype,
                     .left = {a},
                     .right = {c},
                     .prefix = 1});
  return cases;
}

std::vector<Case> row_lengths() {
  const std::vector<int64_t> a = lengths(23, 1, 40, 1), c = lengths(23, 0, 17, 2);
  return {{.name = "Dim1", .dim = 1, .left = {a}, .right = {c}},
          {.name = "Dim1OfBytes", .dtype = HSTU_DTYPE_E5M2, .dim = 1, .left = {a}, .right = {c}, .prefix = 1},
          {.name = "Dim1OfI64", .dtype = kI64, .dim = 1, .left = {a}, .right = {c}},
          {.name = "Dim3OfBytes", .dtype = HSTU_DTYPE_E4M3, .dim = 3, .left = {a}, .right = {c}},
          {.name = "Dim33", .dim = 33, .left = {a}, .right = {c}},
          {.name = "Dim129OfF32", .dtype = kF32, .dim = 129, .left = {a}, .right = {c}},
          {.name = "Dim20000", .dim = 20000, .left = {{2, 0, 1}}, .right = {{1, 2, 0}}}};
}

std::vector<Case> dense_parts() {
  const std::vector<int64_t> a = lengths(9, 1, 40, 5), six(9, 6), zero(9, 0);
  const hstu_dtype none = HSTU_DTYPE_NONE;
  return {{.name = "DenseLeft", .left = {six, none}, .right = {a}},
          {.name = "DenseRight", .left = {a}, .right = {six, none}, .prefix = 2},
          {.name = "DenseLeftOfRank3", .left = {six, none, {.row_padding = 24}, 0, 3}, .right = {a, kI32}, .prefix = 1},
          {.name = "DenseRightOfRank3", .dim = 7, .left = {a}, .right = {six, none, {.row_padding = 3}, 0, 3}},
          {.name = "BothDense", .left = {six, none}, .right = {six, none}, .prefix = 4},
          {.name = "DenseWithoutRows", .left = {zero, none}, .right = {a}}};
}

std::vector<Case> replacements() {
  const std::vector<int64_t> a = lengths(23, 1, 40, 1), c = lengths(23, 0, 17, 2);
  return {{.name = "Replace", .left = {a}, .right = {c}, .replace = true},
          {.name = "ReplaceByLonger", .left = {c}, .right = {a}, .replace = true},
          {.name = "ReplaceDim1", .dim = 1, .left = {a, kI32}, .right = {c}, .replace = true},
          {.name = "ReplaceRowsBehindTheLast", .left = {a, kI64, {}, 8}, .right = {c}, .replace = true},
          {.name = "ReplaceInDense",
           .left = {std::vector<int64_t>(9, 12), HSTU_DTYPE_NONE},
           .right = {lengths(9, 0, 20, 6)},
           .replace = true}};
}

std::vector<Case> layouts() {
  const std::vector<int64_t> a = lengths(23, 1, 40, 1), c = lengths(23, 0, 17, 2);
  const Layout gap{.row_padding = 8}, odd{.row_padding = 1}, shifted{.shift = 4}, off{.shift = 1};
  return {{.name = "Gaps", .left = {a, kI64, gap}, .right = {c, kI64, gap}, .combined = gap},
          {.name = "OddGapInLeft", .left = {a, kI64, odd}, .right = {c}},
          {.name = "OddGapInCombined", .left = {a}, .right = {c}, .combined = odd},
          {.name = "ShiftedRight", .left = {a}, .right = {c, kI64, shifted}},
          {.name = "OffByOneElement", .left = {a, kI64, off}, .right = {c}, .combined = off}};
}

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Shapes, JaggedCopySweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Rows, JaggedCopySweep, testing::ValuesIn(row_lengths()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Dense, JaggedCopySweep, testing::ValuesIn(dense_parts()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Replace, JaggedCopySweep, testing::ValuesIn(replacements()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Layouts, JaggedCopySweep, testing::ValuesIn(layouts()), kNameOf);

}  // namespace
}  // namespace hstujit
