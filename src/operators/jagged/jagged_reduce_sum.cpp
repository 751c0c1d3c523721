// Sums of each sequence's rows: facts, checks, key, cost and reference.
#include "operators/jagged/jagged_reduce_sum.hpp"

#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_checks.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"

namespace hstujit {
namespace {

using Args = hstu_jagged_reduce_sum_args;

constexpr TensorSlot kTensors[] = {
    {"jagged", offsetof(Args, jagged), TensorRole::input, of_rank(2, kFloating)},
    {"seq_offsets", offsetof(Args, seq_offsets), TensorRole::integer, of_rank(1, kIntegers)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
enum : size_t { kSeqOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {jagged_reduce::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor jagged = checks::required<2>("jagged", args.jagged), out = checks::required<2>("out", args.out);
  const checks::Tensor offsets = checks::offsets("seq_offsets", args.seq_offsets);
  checks::floating(jagged);
  if (args.out.dtype != HSTU_DTYPE_F32) checks::same_dtype(out, jagged);
  checks::extent(out, 0, args.seq_offsets.shape[0] - 1, "batch = seq_offsets.shape[0] - 1");
  checks::extent(out, 1, args.jagged.shape[1], "the row length of jagged");
  checks::no_self_overlap(out);
  checks::disjoint(out, jagged);
  checks::disjoint(out, offsets);
  Problem problem{Op::jagged_reduce_sum, {}};
  problem[jagged_reduce::kDtype] = args.jagged.dtype;
  problem[jagged_reduce::kOutDtype] = args.out.dtype;
  problem[jagged_reduce::kOffsetDtype] = args.seq_offsets.dtype;
  problem[jagged_reduce::kDim] = checks::field(jagged, 1);
  problem[jagged_reduce::kVector] = checks::Vector(args.jagged.dtype).tensor(args.jagged).elements();
  problem[jagged_reduce::kBatch] = bucket(args.out.shape[0]);
  problem[jagged_reduce::kRows] = bucket(args.jagged.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const auto rows = static_cast<double>(integer_at(args.seq_offsets, args.seq_offsets.shape[0] - 1));
  const double elements = rows * static_cast<double>(args.jagged.shape[1]);
  const double sums = static_cast<double>(args.out.shape[0]) * static_cast<double>(args.out.shape[1]);
  return {.flops = elements,
          .bytes = elements * size_of(args.jagged.dtype) + sums * size_of(args.out.dtype) +
                   static_cast<double>(extent_bytes(args.seq_offsets))};
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kSeqOffsets], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.jagged.shape[0]);
  const int64_t batch = args.out.shape[0], dim = args.jagged.shape[1];
  const Output out(args.out, exact);
  parallel_for(batch, static_cast<double>(offsets.back() * dim), [&](int64_t b) {
    std::vector<double> row(static_cast<size_t>(dim)), sum(static_cast<size_t>(dim));
    for (int64_t r = offsets[static_cast<size_t>(b)]; r < offsets[static_cast<size_t>(b) + 1]; ++r) {
      load(args.jagged, r * args.jagged.stride[0], dim, row.data());
      for (size_t d = 0; d < sum.size(); ++d) sum[d] += row[d];
    }
    out.write(b, 0, dim, sum.data());
  });
}

}  // namespace reference

}  // namespace hstujit
