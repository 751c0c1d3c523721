// amax of each of the parts of a matrix: facts, checks, key, cost and reference.
#include "operators/fp8/fp8_amax.hpp"

#include "operators/checks.hpp"
#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"

#include <array>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_fp8_amax_args;

constexpr TensorSlot kTensors[] = {{"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
                                   {"amax", offsetof(Args, amax), TensorRole::output, of_rank(1, kF32)}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {fp8_amax::kFields, kTensors, {}}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor x = checks::required<2>("x", args.x);
  checks::floating(x);
  const checks::Tensor amax = checks::required<1>("amax", args.amax);
  checks::is_f32(amax);
  checks::extent(amax, 0, HSTU_FP8_AMAX_PARTS, "HSTU_FP8_AMAX_PARTS");
  checks::disjoint(amax, x);

  Problem problem{Op::fp8_amax, {}};
  problem[fp8_amax::kDtype] = x.t.dtype;
  problem[fp8_amax::kColumns] = checks::field(x, 1);
  problem[fp8_amax::kVector] = checks::Vector(x.t.dtype).tensor(x.t).elements();
  problem[fp8_amax::kDense] = x.t.shape[0] <= 1 || x.t.stride[0] == x.t.shape[1];
  problem[fp8_amax::kRows] = bucket(x.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  return {.flops = elements, .bytes = elements * size_of(args.x.dtype) + 4.0 * HSTU_FP8_AMAX_PARTS};
}

void make_edge_case(Args& args, Integers&) { edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x}); }

namespace reference {

void run(const Args& args, double* const* exact) {
  const int64_t columns = args.x.shape[1], rows = columns == 0 ? 0 : args.x.shape[0];
  const int64_t part = 16 * ceil_div(rows * columns, 16 * HSTU_FP8_AMAX_PARTS);
  std::array<double, HSTU_FP8_AMAX_PARTS> amax{};
  std::vector<double> x(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    load(args.x, row * args.x.stride[0], columns, x.data());
    for (int64_t column = 0; column < columns; ++column) {
      double& of_part = amax[static_cast<size_t>((row * columns + column) / part)];
      const double size = std::fabs(x[static_cast<size_t>(column)]);
      if (!(size <= of_part) && !std::isnan(of_part)) of_part = size;
    }
  }
  Output(args.amax, exact).write(0, 0, HSTU_FP8_AMAX_PARTS, amax.data());
}

}  // namespace reference

}  // namespace hstujit
