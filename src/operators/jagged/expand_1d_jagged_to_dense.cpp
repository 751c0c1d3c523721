// A jagged vector as rows of one length: facts, checks, key, cost and reference.
#include "operators/jagged/expand_1d_jagged_to_dense.hpp"

#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using Args = hstu_expand_1d_jagged_to_dense_args;

constexpr TensorSlot kTensors[] = {{"values", offsetof(Args, values), TensorRole::input, of_rank(1, kCopied)},
                                   {"offsets", offsetof(Args, offsets), TensorRole::integer, of_rank(1, kIntegers)},
                                   {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kCopied)}};
enum : size_t { kOffsets = 1 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {expand::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor values = checks::required<1>("values", args.values), out = checks::required<2>("out", args.out);
  const checks::Tensor offsets = checks::offsets("offsets", args.offsets);
  checks::same_dtype(out, values);
  checks::extent(out, 0, args.offsets.shape[0] - 1, "batch = offsets.shape[0] - 1");
  checks::field(out, 1);
  jagged_lengths::separate({&out}, {&values, &offsets});
  Problem problem{Op::expand_1d_jagged_to_dense, {}};
  problem[expand::kElementBytes] = static_cast<int32_t>(checks::element_bytes(args.values.dtype));
  problem[expand::kOffsetDtype] = args.offsets.dtype;
  problem[expand::kBatch] = bucket(args.out.shape[0]);
  problem[expand::kMaxLen] = bucket(args.out.shape[1]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.out.shape[0]) * static_cast<double>(args.out.shape[1]);
  return {.flops = 0,
          .bytes = elements * size_of(args.out.dtype) + static_cast<double>(extent_bytes(args.values)) +
                   static_cast<double>(extent_bytes(args.offsets))};
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  const int64_t max_len = args.out.shape[1];
  const RowCopies out(args.out, exact);
  for (int64_t b = 0; b < args.out.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    for (int64_t t = 0; t < max_len; ++t) {
      if (rows == 0)
        out.clear(b, t);
      else
        out.copy_at(b, t, args.values, begin + std::min(t, rows - 1), 1);
    }
  }
}

}  // namespace reference

}  // namespace hstujit
