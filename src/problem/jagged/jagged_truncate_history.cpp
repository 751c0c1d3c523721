// Sequences without their oldest history as a problem: checks, key and cost.
#include "problem/edge_case.hpp"
#include "problem/jagged/jagged_fields.hpp"
#include "problem/jagged/jagged_lengths.hpp"
#include "problem/jagged/truncate_history.hpp"
#include "support/element.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_jagged_truncate_history_args;

constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input},
                                   {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer},
                                   {"num_targets", offsetof(Args, num_targets), TensorRole::integer},
                                   {"out", offsetof(Args, out), TensorRole::output},
                                   {"out_offsets", offsetof(Args, out_offsets), TensorRole::output}};
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

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_lengths::fields(), kTensors, kScalars}; }

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

Work work_of(const Args& args) {
  double rows = 0;
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t n = integer_at(args.seq_offsets, b + 1) - integer_at(args.seq_offsets, b);
    rows += static_cast<double>(truncate_history::rows_that_stay(args, b, n));
  }
  const double dim = args.values.rank == 2 ? static_cast<double>(args.values.shape[1]) : 1;
  return {.flops = 0,
          .bytes = 2 * rows * dim * size_of(args.values.dtype) +
                   bytes_of_all({&args.seq_offsets, &args.num_targets, &args.out_offsets})};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

}  // namespace hstujit
