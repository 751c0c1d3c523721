// Jagged vectors on the device, bit for bit the reference: element sizes, integer types, batches of every size, empty
// sequences, vectors longer than a block's share.
#include "support/device_call.hpp"

namespace hstujit {
namespace {

const auto kNameOf = [](const auto& info) { return std::string(info.param.name); };

using test::HostMemory;

constexpr hstu_dtype kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64;

struct Case {
  const char* name;
  hstu_dtype dtype = HSTU_DTYPE_F32, left = kI64, right = kI64;
  int64_t batch = 50, longest = 20;
  int64_t dim = 5;    ///< of replacement
  int64_t shift = 0;  ///< elements by which vectors begin behind 256 bytes; others by twice as many
  enum { usual, one_huge } lengths = usual;  ///< one_huge: longest, all others 0 or 1
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<int64_t> lengths(const Case& c, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> out;
  if (c.lengths == Case::one_huge) {
    for (int64_t b = 0; b < c.batch; ++b) out.push_back(static_cast<int64_t>(random.below(2)));
    out[static_cast<size_t>(c.batch / 3)] = c.longest;
    return out;
  }
  for (int64_t b = 0; b < c.batch; ++b)
    out.push_back(b % 6 == 2 ? 0 : static_cast<int64_t>(random.below(static_cast<uint64_t>(c.longest) + 1)));
  return out;
}

int64_t sum(const std::vector<int64_t>& lengths) { return test::offsets_of(lengths).back(); }

class JaggedVectorSweep : public testing::TestWithParam<Case> {};

TEST_P(JaggedVectorSweep, Concatenates) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  const auto left = lengths(c, 1), right = lengths(c, 2);
  hstu_concat_1d_jagged_args args{};
  args.lengths_left = memory.integers(c.left, left);
  args.lengths_right = memory.integers(c.right, right);
  args.left = memory.scrambled(c.dtype, {sum(left)}, {.shift = c.shift});
  args.right = memory.scrambled(c.dtype, {sum(right)});
  args.out = memory.poison(c.dtype, {sum(left) + sum(right)}, {.shift = 2 * c.shift});
  test::expect_same_bits(memory, args, {args.out});
}

TEST_P(JaggedVectorSweep, Splits) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  const auto left = lengths(c, 1), right = lengths(c, 2);
  hstu_split_1d_jagged_args args{};
  args.lengths_left = memory.integers(c.left, left);
  args.lengths_right = memory.integers(c.right, right);
  args.values = memory.scrambled(c.dtype, {sum(left) + sum(right)}, {.shift = c.shift});
  args.left = memory.poison(c.dtype, {sum(left)});
  args.right = memory.poison(c.dtype, {sum(right)}, {.shift = 2 * c.shift});
  test::expect_same_bits(memory, args, {args.left, args.right});
}

TEST_P(JaggedVectorSweep, RemovesTheFirstOrTheLast) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  auto rows = lengths(c, 5);
  for (int64_t& length : rows) ++length;
  hstu_jagged_remove_first_or_last_1d_args args{};
  args.lengths = memory.integers(c.left, rows);
  args.values = memory.scrambled(c.dtype, {sum(rows)});
  args.without_first = memory.poison(c.dtype, {sum(rows) - c.batch}, {.shift = c.shift});
  args.without_last = memory.poison(c.dtype, {sum(rows) - c.batch}, {.shift = 2 * c.shift});
  test::expect_same_bits(memory, args, {args.without_first, args.without_last});
}

/// What the caller must not do stays inside of the outputs.
TEST(JaggedVectorsOnDevice, RemovalWritesNothingElseForEmptySequences) {
  HSTU_NEEDS_RESULTS();
  if (test::test_device()->cpu) GTEST_SKIP() << "refused";
  HostMemory memory;
  const std::vector<int64_t> rows{0, 3, 0, 0, 5, 1, 0};
  hstu_jagged_remove_first_or_last_1d_args args{};
  args.struct_size = sizeof args;
  args.lengths = memory.integers(kI64, rows);
  args.values = memory.scrambled(HSTU_DTYPE_F32, {sum(rows)});
  args.without_first = memory.poison(HSTU_DTYPE_F32, {2});
  args.without_last = memory.poison(HSTU_DTYPE_F32, {2});
  test::DeviceCall call(memory, Op::jagged_remove_first_or_last_1d, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  EXPECT_TRUE(call.wrote_only({args.without_first, args.without_last}));
}

TEST_P(JaggedVectorSweep, ReplacesTheLastRows) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  const auto left = lengths(c, 1), right = lengths(c, 2);
  hstu_replace_last_n_with_jagged_args args{};
  args.lengths_left = memory.integers(c.left, left);
  args.lengths_right = memory.integers(c.right, right);
  args.left = memory.scrambled(c.dtype, {sum(left), c.dim});
  args.right = memory.scrambled(c.dtype, {sum(right), c.dim});
  args.out = memory.poison(c.dtype, {sum(left), c.dim});
  test::expect_same_bits(memory, args, {args.out});
}

TEST_P(JaggedVectorSweep, TransposesSegments) {
  HSTU_NEEDS_DEVICE();
  Case c = GetParam();
  c.batch *= 3;
  HostMemory memory;
  const auto segments = lengths(c, 3);
  hstu_jagged_transpose_1d_args args{};
  args.rows = 3;
  args.columns = c.batch / 3;
  args.lengths = memory.integers(c.left, segments);
  args.offsets = memory.integers(c.right, test::offsets_of(segments));
  args.values = memory.scrambled(c.dtype, {sum(segments)}, {.shift = c.shift});
  args.out = memory.poison(c.dtype, {sum(segments)}, {.shift = 2 * c.shift});
  args.out_lengths = memory.poison(c.left, {c.batch});
  args.out_offsets = memory.poison(c.right, {c.batch + 1});
  test::expect_same_bits(memory, args, {args.out, args.out_offsets, args.out_lengths});
}

TEST_P(JaggedVectorSweep, Expands) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  if (c.batch * c.longest > 1 << 24) GTEST_SKIP() << "more than memory is worth";
  for (const int64_t max_len : {int64_t{0}, c.longest / 2, c.longest + 300}) {
    HostMemory memory;
    const auto rows = lengths(c, 4);
    hstu_expand_1d_jagged_to_dense_args args{};
    args.offsets = memory.integers(c.left, test::offsets_of(rows));
    args.values = memory.scrambled(c.dtype, {sum(rows)}, {.shift = c.shift});
    args.out = memory.poison(c.dtype, {c.batch, max_len}, {.row_padding = c.shift, .shift = 2 * c.shift});
    test::expect_same_bits(memory, args, {args.out});
  }
}

TEST_P(JaggedVectorSweep, SumsIntegers) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  hstu_complete_cumsum_args args{};
  args.values = memory.scrambled(c.left, {c.batch * 7}, {.shift = c.shift});  // sums wrap
  args.out = memory.poison(c.left == kI32 ? c.right : kI64, {c.batch * 7 + 1}, {.shift = c.shift});
  test::expect_same_bits(memory, args, {args.out});
}

TEST(JaggedVectorsOnDevice, LongIntegerSumsWrapAsTheReferences) {
  HSTU_NEEDS_DEVICE();
  for (const auto& [dtype, out] : {std::pair{kI32, kI32}, {kI32, kI64}, {kI64, kI64}})
    for (const int64_t count : {32769, 65536, 300001, 4195000})
      for (const int64_t shift : {0, 1}) {
        HostMemory memory;
        hstu_complete_cumsum_args args{};
        args.values = memory.scrambled(dtype, {count}, {.shift = shift});
        args.out = memory.poison(out, {count + 1}, {.shift = shift});
        test::expect_same_bits(memory, args, {args.out});
      }
}

TEST(JaggedVectorsOnDevice, FloatingSumsEqualTheOracle) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t count : {1, 300, 20000, 40000, 1100000}) {
    HostMemory memory;
    hstu_complete_cumsum_args args{};
    args.struct_size = sizeof args;
    args.values = memory.random(HSTU_DTYPE_F32, {count}, {}, 1);
    args.out = memory.poison(HSTU_DTYPE_F32, {count + 1});
    test::expect_correct(memory, args, &hstu_complete_cumsum_args::out, test::rounded_once(HSTU_DTYPE_F32));
  }
}

std::vector<Case> cases() {
  return {
      {.name = "Usual"},
      {.name = "I32", .left = kI32, .right = kI32},
      {.name = "I32AndI64", .left = kI32, .right = kI64},
      {.name = "Bytes", .dtype = HSTU_DTYPE_E4M3, .right = kI32},
      {.name = "TwoBytes", .dtype = HSTU_DTYPE_BF16},
      {.name = "EightBytes", .dtype = kI64},
      {.name = "OneSequence", .batch = 1, .longest = 1000},
      {.name = "NoSequence", .batch = 0},
      {.name = "AllEmpty", .batch = 9, .longest = 0},
      {.name = "LongSequences", .batch = 12, .longest = 30000},
      {.name = "UnitsHandedOut", .batch = 300, .longest = 10000, .shift = 3},
      {.name = "BytesHandedOut", .dtype = HSTU_DTYPE_E4M3, .batch = 300, .longest = 30000},
      {.name = "GroupsHandedOut", .left = kI32, .batch = 20011, .longest = 100, .shift = 1},
      {.name = "ManySequences", .left = kI32, .batch = 7001, .longest = 9},
      {.name = "ZerosAndOnes", .right = kI32, .batch = 20011, .longest = 1},
      {.name = "OneHuge", .batch = 3001, .longest = 400003, .lengths = Case::one_huge},
      {.name = "OneHugeAmongGroups", .batch = 30011, .longest = 700001, .lengths = Case::one_huge},
      {.name = "OneHugeInBytes", .dtype = HSTU_DTYPE_E4M3, .batch = 3001, .longest = 400003, .lengths = Case::one_huge},
      {.name = "Unaligned", .left = kI32, .batch = 60, .longest = 5000, .shift = 1},
      {.name = "UnalignedBytes", .dtype = HSTU_DTYPE_E4M3, .batch = 60, .longest = 5000, .shift = 3},
      {.name = "UnalignedTwoBytes", .dtype = HSTU_DTYPE_F16, .batch = 60, .longest = 5000, .shift = 5},
      {.name = "UnalignedEightBytes", .dtype = kI64, .batch = 60, .longest = 5000, .shift = 1},
      {.name = "LongRows", .batch = 40, .dim = 512},
      // 16 MB and more, which pass through shared memory: thirds of transpositions are the other operators' sizes.
      {.name = "ThroughStages", .batch = 501, .longest = 20000, .shift = 1},
      {.name = "BytesThroughStages", .dtype = HSTU_DTYPE_E4M3, .batch = 260, .longest = 90000, .shift = 3},
      {.name = "EightBytesThroughStages", .dtype = kI64, .left = kI32, .batch = 2500, .longest = 2000},
      {.name = "GroupsThroughStages", .dtype = HSTU_DTYPE_BF16, .batch = 30011, .longest = 900, .shift = 5},
      {.name = "ManyShortThroughStages", .left = kI32, .batch = 250007, .longest = 50, .shift = 1},
      {.name = "OneHugeThroughStages", .batch = 3001, .longest = 5000003, .shift = 2, .lengths = Case::one_huge}};
}

INSTANTIATE_TEST_SUITE_P(Cases, JaggedVectorSweep, testing::ValuesIn(cases()), kNameOf);

}  // namespace
}  // namespace hstujit
