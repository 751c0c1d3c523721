// Position and time embeddings, and broadcast rows, on the device against the oracle: both bucket functions, targets,
// contextual rows, short tables, element types, row lengths, layouts and sequences of every kind.
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kI32 = HSTU_DTYPE_I32,
                     kI64 = HSTU_DTYPE_I64;

struct Case {
  std::string name;
  hstu_dtype dtype = kBf16, table = kBf16, offsets = kI64;
  std::vector<int64_t> lengths{30, 0, 1, 77, 12, 0, 45};
  hstu_dtype targets = kI64;  ///< NONE: no targets
  int64_t dim = 64, positions = 100, buckets = 200;
  int64_t contextual = 0;
  int32_t interleave = 0;
  hstu_time_bucket_fn function = HSTU_TIME_BUCKET_SQRT;
  bool query_time = false;
  bool in_place = false;
  float alpha = 1.5f;
  Layout x{}, tables{}, out{};
  int64_t spare = 0;  ///< rows behind the last sequence
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// Ages whose bucket is no whole number within 1e-3: the functions of devices differ in the last place.
int64_t age_off_edges(Random& random, float increments) {
  for (;;) {
    const auto age = static_cast<int64_t>(random.below(uint64_t{1} << (1 + random.below(33))));
    const double u = std::max(static_cast<double>(age), 1e-6) / increments;
    const auto off = [](double x) { return std::fabs(x - std::round(x)) > 1e-3; };
    if (age == 0 || (off(std::sqrt(u)) && off(std::log(u)))) return age;
  }
}

/// Times of one sequence, oldest first; its last row is the query.
void append_times(std::vector<int64_t>& times, int64_t length, Random& random, float increments) {
  constexpr int64_t kNow = 1'750'000'000;  // no float holds it exactly
  std::vector<int64_t> ages;
  for (int64_t i = 1; i < length; ++i) ages.push_back(age_off_edges(random, increments));
  std::ranges::sort(ages, std::greater{});
  if (length > 0) ages.push_back(0);
  for (const int64_t age : ages) times.push_back(kNow - age);
}

std::vector<int64_t> targets_of(const Case& c) {
  std::vector<int64_t> targets;
  for (size_t b = 0; b < c.lengths.size(); ++b) targets.push_back(static_cast<int64_t>(b * 3 % 7));
  return targets;
}

int64_t rows_of_case(const Case& c) {
  int64_t rows = c.spare;
  for (const int64_t length : c.lengths) rows += length;
  return rows;
}

hstu_add_timestamp_positional_embeddings_args timestamp_args(HostMemory& memory, const Case& c) {
  hstu_add_timestamp_positional_embeddings_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {rows_of_case(c), c.dim}, c.x);
  args.position_embeddings = memory.random(c.table, {c.positions, c.dim}, c.tables);
  args.timestamp_embeddings = memory.random(c.table, {c.buckets, c.dim}, c.tables);
  args.seq_offsets = memory.integers(c.offsets, test::offsets_of(c.lengths));
  std::vector<int64_t> times;
  for (const int64_t length : c.lengths) append_times(times, length, memory.random_numbers(), 30);
  times.resize(static_cast<size_t>(rows_of_case(c)));
  args.timestamps = memory.integers(kI64, times);
  if (c.targets != HSTU_DTYPE_NONE) args.num_targets = memory.integers(c.targets, targets_of(c));
  if (c.query_time) args.query_time = memory.integers(kI64, std::vector<int64_t>(c.lengths.size(), 1'750'000'000));
  args.out = c.in_place ? args.x : memory.poison(c.dtype, {rows_of_case(c), c.dim}, c.out);
  args.alpha = c.alpha;
  args.time_bucket_increments = 30;
  args.time_bucket_fn = c.function;
  args.max_contextual_seq_len = c.contextual;
  args.interleave_targets = c.interleave;
  return args;
}

hstu_add_positional_embeddings_args positional_args(HostMemory& memory, const Case& c) {
  hstu_add_positional_embeddings_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {rows_of_case(c), c.dim}, c.x);
  args.position_embeddings = memory.random(c.table, {c.positions, c.dim}, c.tables);
  args.seq_offsets = memory.integers(c.offsets, test::offsets_of(c.lengths));
  if (c.targets != HSTU_DTYPE_NONE) args.num_targets = memory.integers(c.targets, targets_of(c));
  args.out = c.in_place ? args.x : memory.poison(c.dtype, {rows_of_case(c), c.dim}, c.out);
  args.alpha = c.alpha;
  args.interleave_targets = c.interleave;
  return args;
}

hstu_jagged_dense_broadcast_add_args broadcast_args(HostMemory& memory, const Case& c) {
  hstu_jagged_dense_broadcast_add_args args{};
  args.struct_size = sizeof args;
  args.jagged = memory.random(c.dtype, {rows_of_case(c), c.dim}, c.x);
  args.dense = memory.random(c.table, {static_cast<int64_t>(c.lengths.size()), c.dim}, c.tables);
  args.seq_offsets = memory.integers(c.offsets, test::offsets_of(c.lengths));
  args.out = c.in_place ? args.jagged : memory.poison(c.dtype, {rows_of_case(c), c.dim}, c.out);
  return args;
}

/// A row's only sum may cancel, which its size does not show: three roundings of the largest terms there are.
test::Exact roundings_of_terms(const Case& c, const std::vector<hstu_tensor>& terms) {
  double size = 0;
  for (const hstu_tensor& t : terms)
    for (const double value : test::values(t)) size = std::max(size, std::fabs(value));
  const double sum = size * (std::max(1.0, static_cast<double>(c.alpha)) + static_cast<double>(terms.size()) - 1);
  return test::Exact(static_cast<size_t>(rows_of_case(c) * c.dim), 1.5 * test::ulp(kF32) * sum);
}

/// Rows behind the last sequence are not written: in place they keep their contents, which the oracle leaves out.
template <class Args>
void expect_rows(HostMemory& memory, const Args& args, const Case& c, const std::vector<hstu_tensor>& terms) {
  ASSERT_TRUE(!c.in_place || c.spare == 0);
  test::expect_correct(
      memory, args,
      {{&Args::out, test::rounded_sum(c.dtype), c.dim == 1 ? roundings_of_terms(c, terms) : test::Exact{}}});
}

class PositionSweep : public testing::TestWithParam<Case> {};

TEST_P(PositionSweep, TimestampsEqualTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = timestamp_args(memory, GetParam());
  expect_rows(memory, args, GetParam(), {args.x, args.position_embeddings, args.timestamp_embeddings});
}

TEST_P(PositionSweep, PositionsEqualTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = positional_args(memory, GetParam());
  expect_rows(memory, args, GetParam(), {args.x, args.position_embeddings});
}

TEST_P(PositionSweep, BroadcastRowsEqualTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = broadcast_args(memory, GetParam());
  expect_rows(memory, args, GetParam(), {args.jagged, args.dense});
}

std::vector<int64_t> many(int64_t batch) {
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < batch; ++b) lengths.push_back(b * 7 % 11 == 0 ? 0 : b * 13 % 29);
  return lengths;
}

std::vector<Case> options() {
  const hstu_time_bucket_fn log = HSTU_TIME_BUCKET_LOG;
  return {{.name = "Usual", .dim = 512},
          {.name = "Log", .function = log},
          {.name = "LogOfF32", .dtype = kF32, .table = kF32, .function = log},
          {.name = "NoTargets", .targets = HSTU_DTYPE_NONE},
          {.name = "I32", .offsets = kI32, .targets = kI32},
          {.name = "Contextual", .contextual = 5},
          {.name = "ContextualBeyondSequences", .contextual = 40, .function = log},
          {.name = "Interleaved", .contextual = 2, .interleave = 1},
          {.name = "ShortTables", .positions = 9, .buckets = 4, .contextual = 3},
          {.name = "TablesOfOneRow", .positions = 1, .buckets = 1},
          {.name = "QueryTime", .query_time = true},
          {.name = "InPlace", .in_place = true},
          {.name = "AlphaOfOne", .alpha = 0},
          {.name = "RowsBehindTheLast", .spare = 21},
          {.name = "NoSequence", .lengths = {}},
          {.name = "NoSequenceButRows", .lengths = {}, .spare = 5},
          {.name = "AllEmpty", .lengths = {0, 0, 0}},
          {.name = "OneRow", .lengths = {1}},
          {.name = "ManySequences", .lengths = many(2000), .dim = 24},
          {.name = "ManyRows", .lengths = {3000, 2, 2500, 0, 1777}, .dim = 128, .positions = 4000}};
}

std::vector<Case> shapes() {
  std::vector<Case> cases;
  for (const auto& [dtype, table] :
       {std::pair{kBf16, kF32}, {kF16, kF16}, {kF16, kF32}, {kF32, kF32}, {kF32, kBf16}, {kBf16, kBf16}})
    for (const int64_t dim : {1, 6, 33, 72, 200, 1000})
      cases.push_back({.name = fmt::format("{}_{}_{}", name_of(dtype), name_of(table), dim),
                       .dtype = dtype,
                       .table = table,
                       .dim = dim,
                       .contextual = 2});
  cases.push_back({.name = "LongRows", .lengths = {2, 0, 3}, .dim = 20000, .positions = 4, .buckets = 5});
  cases.push_back({.name = "LongOddRows", .lengths = {2, 0, 3}, .dim = 9001, .positions = 4, .buckets = 5});
  return cases;
}

std::vector<Case> layouts() {
  const Layout gap{.row_padding = 64}, odd{.row_padding = 1}, shift2{.shift = 2}, shift1{.shift = 1};
  return {{.name = "Gaps", .x = gap, .tables = gap, .out = gap},
          {.name = "OddGapInX", .x = odd},
          {.name = "OddGapInOut", .out = odd},
          {.name = "OddGapInTables", .tables = odd},
          {.name = "ShiftedX", .x = shift2},
          {.name = "ShiftedTables", .tables = shift1},
          {.name = "ShiftedF32Tables", .table = kF32, .tables = shift2}};
}

const auto kNameOf = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Options, PositionSweep, testing::ValuesIn(options()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, PositionSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Layouts, PositionSweep, testing::ValuesIn(layouts()), kNameOf);

}  // namespace
}  // namespace hstujit
