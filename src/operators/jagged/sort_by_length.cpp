// Sequences in the order of their lengths as a problem: checks, key and cost.
#include "operators/edge_case.hpp"
#include "operators/integers.hpp"
#include "operators/jagged/jagged_fields.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hstujit {
namespace {

using Args = hstu_sort_by_length_args;

constexpr FieldInfo kFields[] = {
    {"offset_dtype", FieldKind::dtype}, {"out_dtype", FieldKind::dtype}, {"count", FieldKind::bucket}};
constexpr TensorSlot kTensors[] = {{"offsets", offsetof(Args, offsets), TensorRole::integer},
                                   {"out", offsetof(Args, out), TensorRole::output}};
enum : size_t { kOffsets = 0 };  // slot of kTensors

}  // namespace

OperatorFacts facts_of(const Args*) { return {kFields, kTensors, {}}; }

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

Work work_of(const Args& args) {
  const auto n = static_cast<double>(args.out.shape[0]);
  return {.flops = n * n,
          .bytes = static_cast<double>(extent_bytes(args.offsets)) + static_cast<double>(extent_bytes(args.out))};
}

void make_edge_case(Args&, Integers& integers) {
  std::vector<int64_t> no_targets;
  edge_case::make_ragged(integers[kOffsets], no_targets);
}

}  // namespace hstujit

// The numbers of the sequences, the longest first.
namespace hstujit::reference {

void run(const hstu_sort_by_length_args& args, double* const* exact) {
  const auto offsets = read_offsets("offsets", args.offsets, std::numeric_limits<int64_t>::max());
  std::vector<size_t> order(static_cast<size_t>(args.out.shape[0]));
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]; });
  const std::vector<double> numbers(order.begin(), order.end());
  Output(args.out, exact).write(0, 0, args.out.shape[0], numbers.data());
}

}  // namespace hstujit::reference
