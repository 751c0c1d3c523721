// Tensors of more than 2^31 elements, as in large_test.cpp: copies and sums of jagged rows, embeddings, FP8, products,
// softmax attention, caches. Some operators share a test, so that fewer of these tensors are there at once.
#include "support/large.hpp"
#include "workload/stack.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hstujit {
namespace {

using test::expect_large;
using test::HostMemory;
using test::LargeMemory;
using test::many_rows;
using test::PeriodicSequences;
using test::repeated;
using test::Tolerance;
using test::unless_too_small;

constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3, kF32 = HSTU_DTYPE_F32, kI64 = HSTU_DTYPE_I64;
constexpr Tolerance kExact{0, 0};

// ---- Jagged rows

TEST(ManyElements, RowsJoinedAndParted) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kLeft = 1000, kRight = 100, kBoth = kLeft + kRight, kDim = 512;
    HostMemory host;
    LargeMemory memory;
    const int64_t periods = many_rows(kDim, kBoth) / kBoth;
    const PeriodicSequences left(host, periods * kLeft), right(host, periods * kRight, {20, 5, 75});
    auto join = sized<hstu_concat_2d_jagged_args>();
    join.left = host.random(kE4m3, {kLeft, kDim});
    join.right = host.random(kE4m3, {kRight, kDim});
    join.offsets_left = left.one;
    join.offsets_right = right.one;
    join.out = host.poison(kE4m3, {kBoth, kDim});
    join.n_prefix_from_right = 3;
    auto large = join;
    large.left = repeated(memory, join.left, periods * kLeft);
    large.right = repeated(memory, join.right, periods * kRight);
    large.offsets_left = repeated(memory, left.many, left.many.shape[0]);
    large.offsets_right = repeated(memory, right.many, right.many.shape[0]);
    large.out = repeated(memory, join.out, periods * kBoth);
    expect_large(memory, large, join, &hstu_concat_2d_jagged_args::out, kExact);

    auto part = sized<hstu_split_2d_jagged_args>();
    part.values = join.out;  // the last period, as it came from the device
    part.offsets_left = left.one;
    part.offsets_right = right.one;
    part.left = host.poison(kE4m3, {kLeft, kDim});
    part.right = host.poison(kE4m3, {kRight, kDim});
    part.n_prefix_to_right = 3;
    auto large_part = part;
    large_part.values = large.out;
    large_part.offsets_left = large.offsets_left;
    large_part.offsets_right = large.offsets_right;
    large_part.left = repeated(memory, part.left, periods * kLeft);
    large_part.right = repeated(memory, part.right, periods * kRight);
    expect_large(memory, large_part, part, &hstu_split_2d_jagged_args::left, kExact);
    test::expect_periods(memory, large_part.right, part.right,
                         test::exact_result(part, &hstu_split_2d_jagged_args::right), kExact);
  });
}

TEST(ManyElements, RowsAndProductsWithARowOfTheirSequence) {
  HSTU_NEEDS_LARGE_DEVICE();
  const int64_t rows = many_rows(512, 1000);
  unless_too_small([&] {
    HostMemory host;
    LargeMemory memory;
    const PeriodicSequences sequences(host, rows);
    auto args = sized<hstu_jagged_dense_broadcast_add_args>();
    args.jagged = host.random(kBf16, {1000, 512});
    args.dense = host.random(kBf16, {3, 512});
    args.seq_offsets = sequences.one;
    args.out = host.poison(kBf16, {1000, 512});
    auto large = args;
    large.jagged = large.out = repeated(memory, args.jagged, rows);
    large.dense = repeated(memory, args.dense, rows / 1000 * 3);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    expect_large(memory, large, args, &hstu_jagged_dense_broadcast_add_args::out, test::rounded_sum(kBf16));
  });
  unless_too_small([&] {
    HostMemory host;
    LargeMemory memory;
    const PeriodicSequences sequences(host, rows);
    auto args = sized<hstu_jagged_dense_bmm_broadcast_add_args>();
    args.jagged = host.random(kBf16, {1000, 32});
    args.dense = host.random(kBf16, {3, 32, 512}, {}, 0, 0.2);
    args.bias = host.random(kBf16, {3, 512});
    args.seq_offsets = sequences.one;
    args.out = host.poison(kBf16, {1000, 512});
    auto large = args;
    large.jagged = repeated(memory, args.jagged, rows);
    large.dense = repeated(memory, args.dense, rows / 1000 * 3);
    large.bias = repeated(memory, args.bias, rows / 1000 * 3);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.out = repeated(memory, args.out, rows);
    expect_large(memory, large, args, &hstu_jagged_dense_bmm_broadcast_add_args::out, test::rounded_once(kBf16));
  });
}

// ---- Jagged vectors

/// The elements of a matrix as a vector, for operators on vectors.
hstu_tensor as_vector(hstu_tensor t) {
  t.shape[0] *= t.shape[1];
  t.rank = 1;
  t.stride[0] = 1;
  t.shape[1] = t.stride[1] = 0;
  return t;
}

TEST(ManyElements, VectorsJoinedAndParted) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kRow = 64, kLeft = 900, kRight = 100, kBoth = kLeft + kRight;  // rows of so many elements
    HostMemory host;
    LargeMemory memory;
    const int64_t periods = many_rows(kRow, kBoth) / kBoth;
    const auto lengths = [&](const std::vector<int64_t>& of_period) {
      const hstu_tensor one = host.integers(kI64, of_period);
      return std::pair{one, repeated(memory, one, periods * one.shape[0])};
    };
    const auto [left, lefts] = lengths({30000, 0, 1, 27599});
    const auto [right, rights] = lengths({100, 3000, 0, 3300});
    const hstu_tensor left_rows = host.random(kE4m3, {kLeft, kRow}), right_rows = host.random(kE4m3, {kRight, kRow}),
                      out_rows = host.poison(kE4m3, {kBoth, kRow});
    auto join = sized<hstu_concat_1d_jagged_args>();
    join.lengths_left = left;
    join.lengths_right = right;
    join.left = as_vector(left_rows);
    join.right = as_vector(right_rows);
    join.out = as_vector(out_rows);
    auto large = join;
    const hstu_tensor outs = repeated(memory, out_rows, periods * kBoth);
    large.lengths_left = lefts;
    large.lengths_right = rights;
    large.left = as_vector(repeated(memory, left_rows, periods * kLeft));
    large.right = as_vector(repeated(memory, right_rows, periods * kRight));
    large.out = as_vector(outs);
    ASSERT_EQ(hstu_concat_1d_jagged(test::test_device()->context, &large, nullptr), HSTU_OK) << hstu_last_error();
    (*memory).synchronise();
    expect_periods(memory, outs, out_rows, test::exact_result(join, &hstu_concat_1d_jagged_args::out), kExact);

    auto part = sized<hstu_split_1d_jagged_args>();
    part.lengths_left = left;
    part.lengths_right = right;
    part.values = join.out;  // the last period, as it came from the device
    const hstu_tensor left_again = host.poison(kE4m3, {kLeft, kRow}), right_again = host.poison(kE4m3, {kRight, kRow});
    part.left = as_vector(left_again);
    part.right = as_vector(right_again);
    auto large_part = part;
    const hstu_tensor lefts_again = repeated(memory, left_again, periods * kLeft),
                      rights_again = repeated(memory, right_again, periods * kRight);
    large_part.lengths_left = lefts;
    large_part.lengths_right = rights;
    large_part.values = large.out;
    large_part.left = as_vector(lefts_again);
    large_part.right = as_vector(rights_again);
    ASSERT_EQ(hstu_split_1d_jagged(test::test_device()->context, &large_part, nullptr), HSTU_OK) << hstu_last_error();
    (*memory).synchronise();
    expect_periods(memory, lefts_again, left_again, test::exact_result(part, &hstu_split_1d_jagged_args::left), kExact);
    expect_periods(memory, rights_again, right_again, test::exact_result(part, &hstu_split_1d_jagged_args::right),
                   kExact);
  });
}

TEST(ManyElements, VectorsShortened) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kRow = 64, kRows = 9000, kLeft = kRows - 1;  // 64 sequences a period lose an element each
    HostMemory host;
    LargeMemory memory;
    const int64_t periods = many_rows(kRow, kLeft) / kLeft;
    std::vector<int64_t> lengths;
    for (int64_t b = 0; b < kRow; ++b) lengths.push_back(kRows + (b % 2 == 0 ? 8999 : -8999));
    const hstu_tensor rows = host.random(kE4m3, {kRows, kRow}), first = host.poison(kE4m3, {kLeft, kRow}),
                      last = host.poison(kE4m3, {kLeft, kRow});
    auto args = sized<hstu_jagged_remove_first_or_last_1d_args>();
    args.lengths = host.integers(kI64, lengths);
    args.values = as_vector(rows);
    args.without_first = as_vector(first);
    args.without_last = as_vector(last);
    auto large = args;
    const hstu_tensor firsts = repeated(memory, first, periods * kLeft),
                      lasts = repeated(memory, last, periods * kLeft);
    large.lengths = repeated(memory, args.lengths, periods * kRow);
    large.values = as_vector(repeated(memory, rows, periods * kRows));
    large.without_first = as_vector(firsts);
    large.without_last = as_vector(lasts);
    ASSERT_EQ(hstu_jagged_remove_first_or_last_1d(test::test_device()->context, &large, nullptr), HSTU_OK)
        << hstu_last_error();
    (*memory).synchronise();
    using Args = hstu_jagged_remove_first_or_last_1d_args;
    expect_periods(memory, firsts, first, test::exact_result(args, &Args::without_first), kExact);
    expect_periods(memory, lasts, last, test::exact_result(args, &Args::without_last), kExact);
  });
}

/// Two rows of segments, of which the second is as the first: their columns are segments twice.
TEST(ManyElements, VectorsTransposed) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kRow = 64, kRows = 900, kBoth = 2 * kRows, kPeriod = kRow * kRows;
    const std::vector<int64_t> segments{30000, 0, 1, 27599};
    HostMemory host;
    LargeMemory memory;
    const int64_t periods = many_rows(kRow, kBoth) / kBoth, count = 8 * periods;
    const hstu_tensor rows = host.random(kE4m3, {kBoth, kRow}), out_rows = host.poison(kE4m3, {kBoth, kRow});
    std::memcpy(static_cast<std::byte*>(rows.data) + kPeriod, rows.data, kPeriod);
    const PeriodicSequences two(host, 2 * kPeriod, segments), all(host, 2 * periods * kPeriod, segments);
    std::vector<int64_t> lengths = segments;
    lengths.insert(lengths.end(), segments.begin(), segments.end());
    auto args = sized<hstu_jagged_transpose_1d_args>();
    args.values = as_vector(rows);
    args.out = as_vector(out_rows);
    args.offsets = two.many;
    args.out_offsets = host.poison(kI64, {9});
    args.lengths = host.integers(kI64, lengths);
    args.out_lengths = host.poison(kI64, {8});
    args.rows = 2;
    args.columns = 4;
    auto large = args;
    const hstu_tensor outs = repeated(memory, out_rows, periods * kBoth);
    large.values = as_vector(repeated(memory, rows, periods * kBoth));
    large.out = as_vector(outs);
    large.offsets = repeated(memory, all.many, count + 1);
    large.out_offsets = hstu_vector(memory.allocate(8 * (count + 1)), kI64, count + 1);
    large.lengths = repeated(memory, args.lengths, count);
    large.out_lengths = hstu_vector(memory.allocate(8 * count), kI64, count);
    large.columns = 4 * periods;
    ASSERT_EQ(hstu_jagged_transpose_1d(test::test_device()->context, &large, nullptr), HSTU_OK) << hstu_last_error();
    (*memory).synchronise();
    expect_periods(memory, outs, out_rows, test::exact_result(args, &hstu_jagged_transpose_1d_args::out), kExact);
  });
}

TEST(ManyElements, VectorsExpandedAndRowsReplaced) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kRow = 64, kRows = 900, kLongest = 20000;
    HostMemory host;
    LargeMemory memory;
    const std::vector<int64_t> lengths{30000, 0, 1, 27599};
    const int64_t batch = many_rows(kLongest, 4), periods = batch / 4;
    const PeriodicSequences sequences(host, periods * kRows * kRow, lengths);
    const hstu_tensor rows = host.random(kE4m3, {kRows, kRow});
    auto args = sized<hstu_expand_1d_jagged_to_dense_args>();
    args.values = as_vector(rows);
    args.offsets = sequences.one;
    args.out = host.poison(kE4m3, {4, kLongest});
    auto large = args;
    large.values = as_vector(repeated(memory, rows, periods * kRows));
    large.offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.out = repeated(memory, args.out, batch);
    expect_large(memory, large, args, &hstu_expand_1d_jagged_to_dense_args::out, kExact);
  });
  unless_too_small([] {
    constexpr int64_t kLeft = 1000, kRight = 100, kDim = 512;
    HostMemory host;
    LargeMemory memory;
    const int64_t periods = many_rows(kDim, kLeft) / kLeft;
    auto args = sized<hstu_replace_last_n_with_jagged_args>();
    args.lengths_left = host.integers(kI64, {300, 0, 700});
    args.lengths_right = host.integers(kI64, {20, 5, 75});
    args.left = host.random(kE4m3, {kLeft, kDim});
    args.right = host.random(kE4m3, {kRight, kDim});
    args.out = host.poison(kE4m3, {kLeft, kDim});
    auto large = args;
    large.lengths_left = repeated(memory, args.lengths_left, 3 * periods);
    large.lengths_right = repeated(memory, args.lengths_right, 3 * periods);
    large.left = repeated(memory, args.left, periods * kLeft);
    large.right = repeated(memory, args.right, periods * kRight);
    large.out = repeated(memory, args.out, periods * kLeft);
    expect_large(memory, large, args, &hstu_replace_last_n_with_jagged_args::out, kExact);
  });
}

TEST(ManyElements, PrefixSums) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kRow = 64, kRows = 1000;  // elements of a period, whose sum is 0: results repeat, too
    HostMemory host;
    LargeMemory memory;
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < kRow * kRows / 2; ++i) {
      numbers.push_back(static_cast<int64_t>(host.random_numbers().below(1u << 30)));
      numbers.push_back(i == 0 ? 0 : -numbers[numbers.size() - 3]);
    }
    numbers.back() -= numbers[numbers.size() - 2];
    hstu_tensor values = host.integers(HSTU_DTYPE_I32, numbers);
    values.rank = 2;
    values.shape[0] = kRows;
    values.shape[1] = values.stride[0] = kRow;
    values.stride[1] = 1;
    const hstu_tensor out = host.poison(HSTU_DTYPE_I32, {kRows + 1, kRow});
    auto sums = sized<hstu_complete_cumsum_args>();
    sums.values = as_vector(values);
    sums.out = as_vector(out);
    sums.out.shape[0] = sums.values.shape[0] + 1;
    const int64_t rows = many_rows(kRow, kRows);
    auto large = sums;
    const hstu_tensor many = repeated(memory, values, rows);
    hstu_tensor outs = repeated(memory, out, rows + 1);
    large.values = as_vector(many);
    large.out = as_vector(outs);
    large.out.shape[0] = large.values.shape[0] + 1;
    ASSERT_EQ(hstu_complete_cumsum(test::test_device()->context, &large, nullptr), HSTU_OK) << hstu_last_error();
    (*memory).synchronise();
    const std::vector<double> exact = test::exact_result(sums, &hstu_complete_cumsum_args::out);
    hstu_tensor one = out;
    outs.shape[0] = rows;
    one.shape[0] = kRows;
    expect_periods(memory, outs, one, std::vector(exact.begin(), exact.end() - 1), kExact);
    EXPECT_EQ(exact.back(), 0);
  });
}

// ---- Embeddings, added in place

TEST(ManyElements, EmbeddingsOfPositionsAndTimes) {
  HSTU_NEEDS_LARGE_DEVICE();
  const int64_t rows = many_rows(512, 1000), batch = rows / 1000 * 3;
  unless_too_small([&] {
    HostMemory host;
    LargeMemory memory;
    const PeriodicSequences sequences(host, rows);
    auto args = sized<hstu_add_positional_embeddings_args>();
    args.x = host.random(kBf16, {1000, 512});
    args.position_embeddings = host.random(kBf16, {600, 512});
    args.seq_offsets = sequences.one;
    args.num_targets = host.integers(kI64, {20, 0, 50});
    args.out = host.poison(kBf16, {1000, 512});
    auto large = args;
    large.x = large.out = repeated(memory, args.x, rows);
    large.position_embeddings = repeated(memory, args.position_embeddings, 600);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.num_targets = repeated(memory, args.num_targets, batch);
    expect_large(memory, large, args, &hstu_add_positional_embeddings_args::out, test::rounded_sum(kBf16));
  });
  unless_too_small([&] {
    HostMemory host;
    LargeMemory memory;
    const PeriodicSequences sequences(host, rows);
    // Ages between the edges of buckets: sqrt(age / 60) is n and a half.
    constexpr int64_t kNow = 1'750'000'000;
    std::vector<int64_t> times;
    for (int64_t i = 0; i < 1000; ++i) {
      const auto n = static_cast<int64_t>(host.random_numbers().below(100));
      times.push_back(kNow - 60 * (n * n + n) - 15);
    }
    auto args = sized<hstu_add_timestamp_positional_embeddings_args>();
    args.x = host.random(kBf16, {1000, 512});
    args.position_embeddings = host.random(kBf16, {800, 512});
    args.timestamp_embeddings = host.random(kBf16, {120, 512});
    args.seq_offsets = sequences.one;
    args.timestamps = host.integers(kI64, times);
    args.query_time = host.integers(kI64, {kNow, kNow, kNow});
    args.num_targets = host.integers(kI64, {20, 0, 50});
    args.out = host.poison(kBf16, {1000, 512});
    auto large = args;
    large.x = large.out = repeated(memory, args.x, rows);
    large.position_embeddings = repeated(memory, args.position_embeddings, 800);
    large.timestamp_embeddings = repeated(memory, args.timestamp_embeddings, 120);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    large.timestamps = repeated(memory, args.timestamps, rows);
    large.query_time = repeated(memory, args.query_time, batch);
    large.num_targets = repeated(memory, args.num_targets, batch);
    expect_large(memory, large, args, &hstu_add_timestamp_positional_embeddings_args::out, test::rounded_sum(kBf16));
  });
}

// ---- FP8, and products

TEST(ManyElements, QuantisedToFp8AndBack) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    const int64_t rows = many_rows(512, 1000);
    auto args = sized<hstu_quantize_fp8_args>();
    args.x = host.random(kBf16, {1000, 512});
    args.q = host.poison(kE4m3, {1000, 512});
    args.descale = host.poison(kF32, {1000});
    args.scaling = HSTU_FP8_ROW;
    auto large = args;
    large.x = repeated(memory, args.x, rows);
    large.q = repeated(memory, args.q, rows);
    large.descale = repeated(memory, args.descale, rows);
    expect_large(memory, large, args, &hstu_quantize_fp8_args::q, kExact);
    test::expect_periods(memory, large.descale, args.descale,
                         test::exact_result(args, &hstu_quantize_fp8_args::descale), kExact);

    auto back = sized<hstu_dequantize_fp8_args>();
    back.q = args.q;  // the last period, as it came from the device
    back.descale = args.descale;
    back.x = host.poison(kBf16, {1000, 512});
    back.scaling = HSTU_FP8_ROW;
    auto large_back = back;
    large_back.q = large.q;
    large_back.descale = large.descale;
    large_back.x = large.x;  // the numbers there are not those that come back
    expect_large(memory, large_back, back, &hstu_dequantize_fp8_args::x, test::rounded_sum(kBf16));
  });
}

TEST(ManyElements, ProductsOfFp8AndGatedOnes) {
  HSTU_NEEDS_LARGE_DEVICE();
  const int64_t rows = many_rows(1024, 1000);
  unless_too_small([&] {
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_fp8_gemm_args>();
    args.x = host.random(kE4m3, {1000, 64});
    args.w = host.random(kE4m3, {1024, 64}, {}, 0, 0.125);
    args.x_descale = host.random(kF32, {1000}, {}, 1, 0.25);
    args.w_descale = host.random(kF32, {1024}, {}, 1, 0.25);
    args.x_scaling = args.w_scaling = HSTU_FP8_ROW;
    args.out = host.poison(kBf16, {1000, 1024});
    auto large = args;
    large.x = repeated(memory, args.x, rows);
    large.w = repeated(memory, args.w, 1024);
    large.x_descale = repeated(memory, args.x_descale, rows);
    large.w_descale = repeated(memory, args.w_descale, 1024);
    large.out = repeated(memory, args.out, rows);
    expect_large(memory, large, args, &hstu_fp8_gemm_args::out, test::rounded_once(kBf16));
  });
  unless_too_small([&] {
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_gated_mlp_args>();
    args.x = host.random(kBf16, {1000, 64});
    args.gate = host.random(kBf16, {64, 1024}, {}, 0, 0.125);
    args.up = host.random(kBf16, {64, 1024}, {}, 0, 0.125);
    args.out = host.poison(kBf16, {1000, 1024});
    args.activation = HSTU_ACTIVATION_SILU;
    auto large = args;
    large.x = repeated(memory, args.x, rows);
    large.gate = repeated(memory, args.gate, 64);
    large.up = repeated(memory, args.up, 64);
    large.out = repeated(memory, args.out, rows);
    expect_large(memory, large, args, &hstu_gated_mlp_args::out, test::rounded_once(kBf16));
  });
}

// ---- Attention

TEST(ManyElements, FlashAttention) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kHeads = 4, kQueries = 1000, kKeys = 64, kDim = 128;
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_flash_attention_args>();
    args.q = host.random(kBf16, {1, kHeads, kQueries, kDim});
    args.k = host.random(kBf16, {1, kHeads, kKeys, kDim});
    args.v = host.random(kBf16, {1, kHeads, kKeys, kDim});
    args.out = host.poison(kBf16, {1, kHeads, kQueries, kDim});
    args.mask.kind = HSTU_MASK_FULL;
    auto large = args;
    const int64_t batch = many_rows(kHeads * kQueries * kDim, 1);
    using Args = hstu_flash_attention_args;
    for (hstu_tensor Args::*t : {&Args::q, &Args::k, &Args::v, &Args::out}) large.*t = repeated(memory, args.*t, batch);
    expect_large(memory, large, args, &Args::out, test::attention_tolerance(kBf16));
  });
}

/// New rows against many cached ones, which are keys and values at once.
TEST(ManyElements, DeltaAttentionAndTheCachesItReads) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    const int64_t rows = many_rows(512, 1000), queries = rows / 1000 * 6;
    const PeriodicSequences sequences(host, rows, {300, 1, 699});
    auto args = sized<hstu_delta_attention_args>();
    args.q = host.random(kBf16, {6, 4, 128});
    args.k = args.v = host.random(kBf16, {1000, 4, 128});
    args.out = host.poison(kBf16, {6, 4, 128});
    args.seq_offsets = sequences.one;
    args.max_seq_len = 699;
    auto large = args;
    large.q = repeated(memory, args.q, queries);
    large.k = large.v = repeated(memory, args.k, rows);
    large.out = repeated(memory, args.out, queries);
    large.seq_offsets = repeated(memory, sequences.many, sequences.many.shape[0]);
    expect_large(memory, large, args, &hstu_delta_attention_args::out, test::attention_tolerance(kBf16));
  });
  unless_too_small([] {
    constexpr int64_t kRoom = 1024, kHeads = 2, kDim = 64, kPage = kRoom * kHeads * kDim, kNew = 4;
    HostMemory host;
    LargeMemory memory;
    const int64_t pages = many_rows(2 * kPage, 1);
    auto args = sized<hstu_append_kv_cache_args>();
    args.k = host.random(kBf16, {kNew, kHeads, kDim});
    args.v = host.random(kBf16, {kNew, kHeads, kDim});
    args.k_cache = host.poison(kBf16, {1, kRoom, kHeads, kDim});
    args.v_cache = host.poison(kBf16, {1, kRoom, kHeads, kDim});
    args.last_page_lens = host.integers(kI64, {500});
    auto large = args;
    large.k = repeated(memory, args.k, pages * kNew);
    large.v = repeated(memory, args.v, pages * kNew);
    large.last_page_lens = repeated(memory, args.last_page_lens, pages);
    // A page of keys and one of values by turns.
    const hstu_tensor both = repeated(memory, host.poison(kBf16, {1, 2 * kPage}), pages);
    for (hstu_tensor* cache : {&large.k_cache, &large.v_cache}) {
      cache->data = static_cast<std::byte*>(both.data) + (cache == &large.v_cache ? 2 * kPage : 0);
      cache->shape[0] = pages;
      cache->stride[0] = 2 * kPage;
    }
    expect_large(memory, large, args, &hstu_append_kv_cache_args::k_cache, kExact);
    test::expect_periods(memory, large.v_cache, args.v_cache,
                         test::exact_result(args, &hstu_append_kv_cache_args::v_cache), kExact);
  });
}

TEST(ManyElements, PagedAttention) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kRoom = 1024, kHeads = 4, kDim = 128, kNew = 2;
    HostMemory host;
    LargeMemory memory;
    const int64_t pages = many_rows(kRoom * kHeads * kDim, 1);
    auto args = sized<hstu_paged_attention_args>();
    args.q = host.random(kBf16, {kNew, kHeads, kDim});
    args.k_cache = args.v_cache = host.random(kBf16, {1, kRoom, kHeads, kDim});
    args.out = host.poison(kBf16, {kNew, kHeads, kDim});
    args.last_page_lens = host.integers(kI64, {700});
    args.max_seq_len = 700;
    auto large = args;
    large.q = repeated(memory, args.q, pages * kNew);
    large.k_cache = large.v_cache = repeated(memory, args.k_cache, pages);
    large.out = repeated(memory, args.out, pages * kNew);
    large.last_page_lens = repeated(memory, args.last_page_lens, pages);
    expect_large(memory, large, args, &hstu_paged_attention_args::out, test::attention_tolerance(kBf16));
  });
}

TEST(ManyElements, RelativeBiases) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    constexpr int64_t kHeads = 4, kPositions = 1024;
    HostMemory host;
    LargeMemory memory;
    const int64_t batch = many_rows(kHeads * kPositions * kPositions, 1);
    std::vector<int64_t> times;
    for (int64_t i = 0; i < kPositions; ++i) times.push_back(1'750'000'000 + 3 * i);  // far from edges of buckets
    auto args = sized<hstu_rel_bias_args>();
    args.timestamps = host.integers(kI64, times);
    args.timestamps.rank = 2;
    args.timestamps.shape[0] = 1, args.timestamps.stride[0] = kPositions;
    args.timestamps.shape[1] = kPositions, args.timestamps.stride[1] = 1;
    args.position_weights = host.random(kF32, {kHeads, 2 * kPositions - 1});
    args.time_weights = host.random(kF32, {1, 129});
    args.rab = host.poison(kBf16, {1, kHeads, kPositions, kPositions});
    auto large = args;
    large.timestamps = repeated(memory, args.timestamps, batch);
    large.position_weights = repeated(memory, args.position_weights, kHeads);
    large.time_weights = repeated(memory, args.time_weights, 1);
    large.rab = repeated(memory, args.rab, batch);
    expect_large(memory, large, args, &hstu_rel_bias_args::rab, test::rounded_sum(kBf16));
  });
}

/// Each of the parts is longer than a period, so has its greatest magnitude.
TEST(ManyElements, GreatestMagnitudes) {
  HSTU_NEEDS_LARGE_DEVICE();
  unless_too_small([] {
    HostMemory host;
    LargeMemory memory;
    auto args = sized<hstu_fp8_amax_args>();
    args.x = host.random(kBf16, {1000, 512});
    args.amax = host.poison(kF32, {HSTU_FP8_AMAX_PARTS});
    auto large = args;
    large.x = repeated(memory, args.x, many_rows(512, 1000));
    large.amax = repeated(memory, args.amax, HSTU_FP8_AMAX_PARTS);
    ASSERT_EQ(hstu_fp8_amax(test::test_device()->context, &large, nullptr), HSTU_OK) << hstu_last_error();
    (*memory).synchronise();
    double greatest = 0;
    for (const double value : test::values(args.x)) greatest = std::max(greatest, std::fabs(value));
    (*memory).download(args.amax.data, large.amax.data, HSTU_FP8_AMAX_PARTS * 4);
    for (const double part : test::values(args.amax)) ASSERT_EQ(part, greatest);
  });
}

}  // namespace
}  // namespace hstujit
