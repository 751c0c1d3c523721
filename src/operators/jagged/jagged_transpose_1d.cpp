// Transposition of a matrix of segments: facts, checks, key, cost and reference.
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_transpose_1d_args;

constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer},
                                   {"lengths", offsetof(Args, lengths), TensorRole::integer},
                                   {"out", offsetof(Args, out), TensorRole::output},
                                   {"out_offsets", offsetof(Args, out_offsets), TensorRole::output},
                                   {"out_lengths", offsetof(Args, out_lengths), TensorRole::output}};
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

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const int64_t count = segments(args);
  const checks::Tensor values = checks::required<1>("values", args.values), out = checks::required<1>("out", args.out);
  const checks::Tensor offsets = checks::offsets("offsets", args.offsets);
  const checks::Tensor out_offsets = checks::offsets("out_offsets", args.out_offsets);
  const checks::Tensor lengths = jagged_lengths::lengths("lengths", args.lengths);
  const checks::Tensor out_lengths = jagged_lengths::lengths("out_lengths", args.out_lengths);
  checks::same_dtype(out, values);
  checks::same_dtype(out_offsets, offsets);
  checks::same_dtype(out_lengths, lengths);
  checks::extent(out, 0, values.t.shape[0], "the elements of values");
  for (const checks::Tensor* t : {&lengths, &out_lengths}) checks::extent(*t, 0, count, "rows * columns");
  for (const checks::Tensor* t : {&offsets, &out_offsets}) checks::extent(*t, 0, count + 1, "rows * columns + 1");
  jagged_lengths::separate({&out, &out_offsets, &out_lengths}, {&values, &offsets, &lengths});
  return jagged_lengths::problem(Op::jagged_transpose_1d, {}, out, args.lengths, HSTU_DTYPE_NONE, args.offsets.dtype);
}

Work work_of(const Args& args) {
  return jagged_lengths::work_of(args.out, {&args.offsets, &args.lengths, &args.out_offsets, &args.out_lengths});
}

void make_edge_case(Args& args, Integers& integers) {
  args.values.shape[0] = args.out.shape[0] = jagged_lengths::make_ragged(integers[kLengths]);
  for (size_t i = 0; i < integers[kLengths].size(); ++i)
    integers[kOffsets][i + 1] = integers[kOffsets][i] + integers[kLengths][i];
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  const std::vector<int64_t> sums = sum_lengths("lengths", args.lengths, args.values.shape[0]);
  if (sums != offsets) fail(HSTU_ERROR_INVALID_ARGUMENT, "lengths: they are not the differences of offsets");
  const RowCopies out(args.out, exact);
  std::vector<int64_t> out_offsets{0}, out_lengths;
  for (int64_t j = 0; j < args.columns; ++j)
    for (int64_t i = 0; i < args.rows; ++i) {
      const auto from = static_cast<size_t>(i * args.columns + j);
      out_lengths.push_back(offsets[from + 1] - offsets[from]);
      out.copy(out_offsets.back(), args.values, offsets[from], out_lengths.back());
      out_offsets.push_back(out_offsets.back() + out_lengths.back());
    }
  write_integers(args.out_offsets, exact, 1, out_offsets);
  write_integers(args.out_lengths, exact, 2, out_lengths);
}

}  // namespace reference

}  // namespace hstujit
