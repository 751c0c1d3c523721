// Transposition of a matrix of segments: facts, checks, key, cost and reference.
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_transpose_1d_args;

constexpr TensorSlot kTensors[] = {
    {"values", offsetof(Args, values), TensorRole::input, of_rank(1, kCopied)},
    {"offsets", offsetof(Args, offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"lengths", offsetof(Args, lengths), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(1, kCopied)},
    {"out_offsets", offsetof(Args, out_offsets), TensorRole::output, of_rank(1, kIntegers).or_absent()},
    {"out_lengths", offsetof(Args, out_lengths), TensorRole::output, of_rank(1, kIntegers).or_absent()}};
constexpr ScalarSlot kScalars[] = {{"rows", offsetof(Args, rows), ScalarSlot::Kind::i64},
                                   {"columns", offsetof(Args, columns), ScalarSlot::Kind::i64}};
enum : size_t { kOffsets = 1, kLengths = 2 };  // slots of kTensors

int64_t segments(const Args& args) {
  checks::not_negative("rows", args.rows, "0 means no segment");
  checks::not_negative("columns", args.columns, "0 means no segment");
  int64_t count = 0;
  if (__builtin_mul_overflow(args.rows, args.columns, &count) || count >= INT32_MAX)
    fail(HSTU_ERROR_UNSUPPORTED, "rows = {}, columns = {}: kernels count segments in 32 bits", args.rows, args.columns);
  return count;
}

/// Those that are there; else without a byte.
checks::Tensor check_out_offsets(Args& args, const checks::Tensor& offsets) {
  if (!checks::given("out_offsets", args.out_offsets)) return {"out_offsets", args.out_offsets};
  const checks::Tensor out_offsets = checks::offsets("out_offsets", args.out_offsets);
  checks::same_dtype(out_offsets, offsets);
  checks::extent(out_offsets, 0, offsets.t.shape[0], "rows * columns + 1");
  return out_offsets;
}
checks::Tensor check_lengths(const char* name, hstu_tensor& t, int64_t count) {
  if (!checks::given(name, t)) return {name, t};
  const checks::Tensor lengths = jagged_lengths::lengths(name, t);
  checks::extent(lengths, 0, count, "rows * columns");
  return lengths;
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const int64_t count = segments(args);
  const checks::Tensor values = checks::required<1>("values", args.values), out = checks::required<1>("out", args.out);
  const checks::Tensor offsets = checks::offsets("offsets", args.offsets);
  checks::same_dtype(out, values);
  checks::extent(out, 0, values.t.shape[0], "the elements of values");
  checks::extent(offsets, 0, count + 1, "rows * columns + 1");
  const checks::Tensor out_offsets = check_out_offsets(args, offsets);
  const checks::Tensor lengths = check_lengths("lengths", args.lengths, count);
  const checks::Tensor out_lengths = check_lengths("out_lengths", args.out_lengths, count);
  if (present(args.lengths) && present(args.out_lengths)) checks::same_dtype(out_lengths, lengths);
  jagged_lengths::separate({&out, &out_offsets, &out_lengths}, {&values, &offsets, &lengths});
  hstu_tensor like = present(args.lengths) ? args.lengths : present(args.out_lengths) ? args.out_lengths : args.offsets;
  like.shape[0] = count;
  return jagged_lengths::problem(Op::jagged_transpose_1d, {}, out, like, HSTU_DTYPE_NONE, args.offsets.dtype);
}

Cost cost_of(const Args& args) {
  return jagged_lengths::cost_of(args.out, {&args.offsets, &args.lengths, &args.out_offsets, &args.out_lengths});
}

void make_edge_case(Args& args, Integers& integers) {
  std::vector<int64_t>& offsets = integers[kOffsets];
  std::vector<int64_t> lengths;
  for (size_t i = 1; i < offsets.size(); ++i) lengths.push_back(offsets[i] - offsets[i - 1]);
  args.values.shape[0] = args.out.shape[0] = jagged_lengths::make_ragged(lengths);
  for (size_t i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i];
  if (present(args.lengths)) integers[kLengths] = std::move(lengths);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  if (present(args.lengths) && sum_lengths("lengths", args.lengths, args.values.shape[0]) != offsets)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "lengths: they are not the differences of offsets");
  const RowCopies out(args.out, exact);
  std::vector<int64_t> out_offsets{0}, out_lengths;
  for (int64_t j = 0; j < args.columns; ++j)
    for (int64_t i = 0; i < args.rows; ++i) {
      const auto from = static_cast<size_t>(i * args.columns + j);
      out_lengths.push_back(offsets[from + 1] - offsets[from]);
      out.copy(out_offsets.back(), args.values, offsets[from], out_lengths.back());
      out_offsets.push_back(out_offsets.back() + out_lengths.back());
    }
  if (present(args.out_offsets)) write_integers(args.out_offsets, exact, 1, out_offsets);
  if (present(args.out_lengths)) write_integers(args.out_lengths, exact, 2, out_lengths);
}

}  // namespace reference

}  // namespace hstujit
