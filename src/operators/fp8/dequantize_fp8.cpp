// Widening of FP8: facts, checks, key, cost and reference.
#include "operators/fp8/dequantize_fp8.hpp"

#include "operators/edge_case.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"

#include <vector>

namespace hstujit {
namespace {

using Args = hstu_dequantize_fp8_args;

constexpr TensorSlot kTensors[] = {
    {"q", offsetof(Args, q), TensorRole::input, of_rank(2, kFp8)},
    {"descale", offsetof(Args, descale), TensorRole::input, of_rank(1, kF32).or_rank(2, 2)},
    {"x", offsetof(Args, x), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"scaling", offsetof(Args, scaling), ScalarSlot::Kind::i64, kFp8ScalingWords}};

hstu_fp8_scaling scaling_of(const Args& args) { return static_cast<hstu_fp8_scaling>(args.scaling); }

}  // namespace

OperatorFacts facts_of(const Args*) { return {dequantize_fp8::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Tensor q = checks::required<2>("q", args.q), x = checks::required<2>("x", args.x);
  fp8::is_fp8(q);
  checks::floating(x);
  checks::extent(x, 0, q.t.shape[0], "q.shape[0]");
  checks::extent(x, 1, q.t.shape[1], "q.shape[1]");
  checks::no_self_overlap(x);
  checks::disjoint(x, q);
  fp8::check_scaling("scaling", args.scaling);
  const checks::Tensor descale =
      fp8::check_descale("descale", args.descale, scaling_of(args), q.t.shape[0], q.t.shape[1]);
  checks::disjoint(x, descale);

  Problem problem{Op::dequantize_fp8, {}};
  problem[dequantize_fp8::kDtype] = x.t.dtype;
  problem[dequantize_fp8::kFp8] = q.t.dtype;
  problem[dequantize_fp8::kScaling] = scaling_of(args);
  problem[dequantize_fp8::kColumns] = checks::field(q, 1);
  problem[dequantize_fp8::kVector] = fp8::vector_of(x.t, q.t);
  problem[dequantize_fp8::kRows] = bucket(q.t.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  return {.flops = elements, .bytes = elements * (size_of(args.x.dtype) + 1) + fp8::descale_bytes(args.descale)};
}

void make_edge_case(Args& args, Integers&) {
  const int64_t rows = edge_case::ragged(args.q.shape[0]);
  edge_case::shorten_rows(rows, {&args.q, &args.x});
  fp8::shorten_descale(args.descale, scaling_of(args), rows);
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const int64_t rows = args.q.shape[0], columns = args.q.shape[1];
  const Output x(args.x, exact);
  parallel_for(rows, 10.0 * static_cast<double>(rows) * static_cast<double>(columns), [&](int64_t row) {
    std::vector<double> values(static_cast<size_t>(columns));
    load(args.q, row * args.q.stride[0], columns, values.data());
    for (int64_t c = 0; c < columns; ++c)
      values[static_cast<size_t>(c)] *= descale_at(args.descale, scaling_of(args), row, c);
    x.write(row, 0, columns, values.data());
  });
}

}  // namespace reference

}  // namespace hstujit
