// Sequences without their oldest history: facts, checks, key, cost and reference.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_jagged_truncate_history_args;

constexpr TensorSlot kTensors[] = {
    {"values", offsetof(Args, values), TensorRole::input, of_rank(1, kCopied).or_rank(2)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"num_targets", offsetof(Args, num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(1, kCopied).or_rank(2)},
    {"out_offsets", offsetof(Args, out_offsets), TensorRole::output, of_rank(1, kIntegers)}};
constexpr ScalarSlot kScalars[] = {{"contextual_seq_len", offsetof(Args, contextual_seq_len), ScalarSlot::Kind::i64},
                                   {"keep", offsetof(Args, keep), ScalarSlot::Kind::i64}};
enum : size_t { kSeqOffsets = 1, kNumTargets = 2 };  // slots of kTensors

checks::Tensor rows(const char* name, hstu_tensor& t) {
  return t.rank == 1 ? checks::required<1>(name, t) : checks::required<2>(name, t);
}

/// More than any sequence has rows means all of them.
void limit(const char* name, int64_t& count, const char* zero_means) {
  checks::not_negative(name, count, zero_means);
  count = std::min(count, int64_t{1} << 40);
}

/// Of the `rows` rows of sequence b. args prepared, so that both lengths in it are limited.
int64_t rows_that_stay(const Args& args, int64_t b, int64_t rows) {
  return std::min(rows, args.contextual_seq_len + targets_of(args.num_targets, b, rows) + args.keep);
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  limit("contextual_seq_len", args.contextual_seq_len, "0 means that history comes first");
  limit("keep", args.keep, "0 means that no history stays");
  const checks::Tensor values = rows("values", args.values);
  const checks::Tensor out =
      args.values.rank == 1 ? checks::required<1>("out", args.out) : checks::required<2>("out", args.out);
  const checks::Tensor offsets = checks::offsets("seq_offsets", args.seq_offsets);
  const checks::Tensor out_offsets = checks::offsets("out_offsets", args.out_offsets);
  checks::same_dtype(out, values);
  checks::same_dtype(out_offsets, offsets);
  checks::same_batch(out_offsets, offsets);
  if (args.values.rank == 2) checks::extent(out, 1, args.values.shape[1], "the row length of values");
  const int64_t batch = args.seq_offsets.shape[0] - 1;
  if (checks::given("num_targets", args.num_targets)) {
    const checks::Tensor targets = jagged_lengths::lengths("num_targets", args.num_targets);
    checks::extent(targets, 0, batch, "batch = seq_offsets.shape[0] - 1");
    jagged_lengths::separate({&out, &out_offsets}, {&targets});
  }
  jagged_lengths::separate({&out, &out_offsets}, {&values, &offsets});
  Problem problem = jagged_lengths::problem(Op::jagged_truncate_history, {&values, &out}, out, args.num_targets,
                                            HSTU_DTYPE_NONE, args.seq_offsets.dtype);
  problem[jagged_lengths::kBatch] = bucket(batch);
  return problem;
}

Cost cost_of(const Args& args) {
  double rows = 0;
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t n = integer_at(args.seq_offsets, b + 1) - integer_at(args.seq_offsets, b);
    rows += static_cast<double>(rows_that_stay(args, b, n));
  }
  const double dim = args.values.rank == 2 ? static_cast<double>(args.values.shape[1]) : 1;
  return {.flops = 0,
          .bytes = 2 * rows * dim * size_of(args.values.dtype) +
                   bytes_of_all({&args.seq_offsets, &args.num_targets, &args.out_offsets})};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

namespace reference {
namespace {

/// Where sequences begin in out, which must have room for them.
std::vector<int64_t> out_offsets_of(const Args& args, const std::vector<int64_t>& offsets) {
  std::vector<int64_t> out_offsets{0};
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t rows = offsets[static_cast<size_t>(b) + 1] - offsets[static_cast<size_t>(b)];
    const int64_t end = out_offsets.back() + rows_that_stay(args, b, rows);
    if (end > args.out.shape[0])
      fail(HSTU_ERROR_INVALID_ARGUMENT, "out.shape[0] = {}: {} rows of the first {} sequences stay", args.out.shape[0],
           end, b + 1);
    out_offsets.push_back(end);
  }
  return out_offsets;
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.values.shape[0]);
  check_counts("num_targets", args.num_targets);
  const std::vector<int64_t> out_offsets = out_offsets_of(args, offsets);
  const int64_t dim = args.values.rank == 2 ? args.values.shape[1] : 1, stride = args.values.stride[0];
  const RowCopies out(args.out, exact);
  for (size_t b = 0; dim > 0 && b + 1 < offsets.size(); ++b) {
    const int64_t stay = out_offsets[b + 1] - out_offsets[b], drop = offsets[b + 1] - offsets[b] - stay;
    for (int64_t t = 0; t < stay; ++t)
      out.copy(out_offsets[b] + t, args.values, (offsets[b] + t + (t < args.contextual_seq_len ? 0 : drop)) * stride,
               dim);
  }
  write_integers(args.out_offsets, exact, 1, out_offsets);
}

}  // namespace reference

}  // namespace hstujit
