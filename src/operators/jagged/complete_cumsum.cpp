// Prefix sums from 0: facts, checks, key, cost and reference.
#include "operators/jagged/complete_cumsum.hpp"

#include "operators/edge_case.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/reference.hpp"

namespace hstujit {
namespace {

using Args = hstu_complete_cumsum_args;

constexpr TensorSlot kTensors[] = {
    {"values", offsetof(Args, values), TensorRole::input, of_rank(1, kF32 | kF64 | kIntegers)},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(1, kF32 | kF64 | kIntegers)}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {cumsum::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor values = checks::required<1>("values", args.values), out = checks::required<1>("out", args.out);
  if (args.values.dtype != HSTU_DTYPE_F32 && args.values.dtype != HSTU_DTYPE_F64) {
    if (args.values.dtype != HSTU_DTYPE_I32 && args.values.dtype != HSTU_DTYPE_I64)
      checks::refuse_dtype(values, "use i32, i64 or f32, or f64 on device \"cpu\"");
  }
  if (!(args.values.dtype == HSTU_DTYPE_I32 && args.out.dtype == HSTU_DTYPE_I64)) checks::same_dtype(out, values);
  checks::extent(out, 0, args.values.shape[0] + 1, "one more than values.shape[0]");
  jagged_lengths::separate({&out}, {&values});
  Problem problem{Op::complete_cumsum, {}};
  problem[cumsum::kDtype] = args.values.dtype;
  problem[cumsum::kOutDtype] = args.out.dtype;
  problem[cumsum::kCount] = bucket(args.values.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  return {.flops = static_cast<double>(args.values.shape[0]),
          .bytes = static_cast<double>(extent_bytes(args.values)) + static_cast<double>(extent_bytes(args.out))};
}

void make_edge_case(Args& args, Integers&) {
  args.values.shape[0] = edge_case::ragged(args.values.shape[0]);
  args.out.shape[0] = args.values.shape[0] + 1;
}

namespace reference {
namespace {

/// Integers wrap in the type of out.
void sum_integers(const Args& args, double* const* exact) {
  uint64_t sum = 0;
  for (int64_t i = 0; i <= args.values.shape[0]; ++i) {
    const bool narrow = args.out.dtype == HSTU_DTYPE_I32;
    const int64_t value = narrow ? static_cast<int32_t>(static_cast<uint32_t>(sum)) : static_cast<int64_t>(sum);
    if (exact) {
      if (exact[0]) exact[0][i] = static_cast<double>(value);
    } else if (narrow) {
      static_cast<int32_t*>(args.out.data)[i] = static_cast<int32_t>(value);
    } else {
      static_cast<int64_t*>(args.out.data)[i] = value;
    }
    if (i < args.values.shape[0]) sum += static_cast<uint64_t>(integer_at(args.values, i));
  }
}

}  // namespace

void run(const Args& args, double* const* exact) {
  if (args.values.dtype == HSTU_DTYPE_I32 || args.values.dtype == HSTU_DTYPE_I64) return sum_integers(args, exact);
  const int64_t count = args.values.shape[0];
  std::vector<double> values(static_cast<size_t>(count)), sums{0};
  load(args.values, 0, count, values.data());
  for (const double value : values) sums.push_back(sums.back() + value);
  Output(args.out, exact).write(0, 0, count + 1, sums.data());
}

}  // namespace reference

}  // namespace hstujit
