// The intervals of semi-local attention: facts, checks, key, cost and reference.
#include "operators/attention/build_sla_func.hpp"

#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_build_sla_func_args;

constexpr TensorSlot kTensors[] = {
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"num_targets", offsetof(Args, num_targets), TensorRole::integer, of_rank(1, kIntegers).or_absent()},
    {"intervals", offsetof(Args, intervals), TensorRole::output, of_rank(3, kI32)}};
constexpr ScalarSlot kScalars[] = {{"last_keys", offsetof(Args, last_keys), ScalarSlot::Kind::i64},
                                   {"first_keys", offsetof(Args, first_keys), ScalarSlot::Kind::i64},
                                   {"contextual_seq_len", offsetof(Args, contextual_seq_len), ScalarSlot::Kind::i64}};
enum : size_t { kSeqOffsets = 0, kNumTargets = 1 };  // slots of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {sla::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  constexpr int64_t kManyPositions = int64_t{1} << 30;  // bounds are 32 bits; more means all keys
  checks::struct_size(args.struct_size, sizeof args);
  for (const auto& [name, value] : {std::pair{"last_keys", &args.last_keys},
                                    {"first_keys", &args.first_keys},
                                    {"contextual_seq_len", &args.contextual_seq_len}}) {
    checks::not_negative(name, *value, "0 means none");
    *value = std::min(*value, kManyPositions);
  }
  const checks::Tensor offsets = checks::offsets("seq_offsets", args.seq_offsets);
  const checks::Tensor intervals = checks::required<3>("intervals", args.intervals);
  if (args.intervals.dtype != HSTU_DTYPE_I32) checks::refuse_dtype(intervals, "it must be i32");
  checks::extent(intervals, 1, 3, "the bounds of a row");
  checks::field(intervals, 0);
  jagged_lengths::separate({&intervals}, {&offsets});
  if (checks::given("num_targets", args.num_targets)) {
    const checks::Tensor targets = jagged_lengths::lengths("num_targets", args.num_targets);
    checks::extent(targets, 0, args.seq_offsets.shape[0] - 1, "batch = seq_offsets.shape[0] - 1");
    jagged_lengths::separate({&intervals}, {&targets});
  }
  Problem problem{Op::build_sla_func, {}};
  problem[sla::kOffsetDtype] = args.seq_offsets.dtype;
  problem[sla::kTargetDtype] = args.num_targets.dtype;
  problem[sla::kRows] = bucket(args.intervals.shape[2]);
  return problem;
}

Cost cost_of(const Args& args) {
  const auto rows = static_cast<double>(integer_at(args.seq_offsets, args.seq_offsets.shape[0] - 1));
  const double bounds = 3 * rows * static_cast<double>(args.intervals.shape[0]);
  return {.flops = 0,
          .bytes = bounds * size_of(args.intervals.dtype) + bytes_of_all({&args.seq_offsets, &args.num_targets})};
}

void make_edge_case(Args&, Integers& integers) { edge_case::make_ragged(integers[kSeqOffsets], integers[kNumTargets]); }

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.intervals.shape[2]);
  check_counts("num_targets", args.num_targets);
  const int64_t first_keys = std::max(args.first_keys, args.contextual_seq_len);
  const Output out(args.intervals, exact);
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    const int64_t history = rows - targets_of(args.num_targets, b, rows);
    for (int64_t p = 0; p < rows; ++p) {
      const bool target = p >= history;
      const int64_t bounds[] = {target ? history : std::min(p + 1, first_keys),
                                target ? history : std::max(p - args.last_keys + 1, first_keys),
                                target ? history : p + 1};
      for (int64_t head = 0; head < args.intervals.shape[0]; ++head)
        for (int64_t m = 0; m < 3; ++m) {
          const auto bound = static_cast<double>(bounds[m]);
          out.write(head, begin + p, 1, &bound, m);
        }
    }
  }
}

}  // namespace reference

}  // namespace hstujit
