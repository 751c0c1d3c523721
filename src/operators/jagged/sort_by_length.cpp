// The numbers of the sequences, the longest first: facts, checks, key, cost and reference.
#include "operators/jagged/sort_by_length.hpp"

#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hstujit {
namespace {

using Args = hstu_sort_by_length_args;

constexpr TensorSlot kTensors[] = {{"offsets", offsetof(Args, offsets), TensorRole::integer, of_rank(1, kIntegers)},
                                   {"out", offsetof(Args, out), TensorRole::output, of_rank(1, kIntegers)}};
enum : size_t { kOffsets = 0 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {sort_by_length::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor offsets = checks::offsets("offsets", args.offsets), out = checks::required<1>("out", args.out);
  checks::integer(out);
  checks::extent(out, 0, args.offsets.shape[0] - 1, "batch = offsets.shape[0] - 1");
  if (args.out.shape[0] > int64_t{1} << 30) checks::refuse_size(out, 0);  // kernels count elements in 32 bits
  jagged_lengths::separate({&out}, {&offsets});
  Problem problem{Op::sort_by_length, {}};
  problem[sort_by_length::kOffsetDtype] = args.offsets.dtype;
  problem[sort_by_length::kOutDtype] = args.out.dtype;
  problem[sort_by_length::kCount] = bucket(args.out.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const auto n = static_cast<double>(args.out.shape[0]);
  return {.flops = n * n,
          .bytes = static_cast<double>(extent_bytes(args.offsets)) + static_cast<double>(extent_bytes(args.out))};
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const auto offsets = read_offsets("offsets", args.offsets, std::numeric_limits<int64_t>::max());
  std::vector<int64_t> order(static_cast<size_t>(args.out.shape[0]));
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](int64_t b) { return offsets[static_cast<size_t>(b) + 1] - offsets[static_cast<size_t>(b)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
  write_integers(args.out, exact, 0, order);
}

}  // namespace reference

}  // namespace hstujit
