// Group norm of rows: facts, checks, key, cost and reference.
#include "operators/norm/group_norm.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit {
namespace {

using Args = hstu_group_norm_args;

constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Args, weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"bias", offsetof(Args, bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating)}};
constexpr ScalarSlot kScalars[] = {{"eps", offsetof(Args, eps), ScalarSlot::Kind::f32, {}, {1e-5f}},
                                   {"num_groups", offsetof(Args, num_groups), ScalarSlot::Kind::i32, {}, kMustBeSet}};

}  // namespace

OperatorFacts facts_of(const Args*) { return {group_norm::kFields, kTensors, kScalars}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  const checks::Rows r = checks::rows(args.x, args.out);
  if (args.num_groups <= 0 || r.dim() % args.num_groups != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_groups = {}: it must be positive and divide x.shape[1] = {}",
         args.num_groups, r.dim());
  const bool weighted = checks::weight_and_bias(args.weight, args.bias, args.num_groups, "num_groups", r.out);
  args.eps = checks::eps(args.eps);
  checks::Vector vector(args.x.dtype);  // groups start at multiples of their length
  vector.tensor(args.x).tensor(args.out).length(r.dim() / args.num_groups);

  Problem problem{Op::group_norm, {}};
  problem[group_norm::kDtype] = args.x.dtype;
  problem[group_norm::kWeightDtype] = args.weight.dtype;
  problem[group_norm::kHasWeight] = weighted;
  problem[group_norm::kDim] = checks::field(r.x, 1);
  problem[group_norm::kGroups] = args.num_groups;
  problem[group_norm::kVector] = vector.elements();
  problem[group_norm::kRows] = bucket(args.x.shape[0]);
  return problem;
}

Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.x.shape[0]) * static_cast<double>(args.x.shape[1]);
  const bool weighted = present(args.weight);
  // Sum; difference, square and sum; scale; weight and bias.
  return {.flops = elements * (weighted ? 7 : 5),
          .bytes = elements * 2 * size_of(args.x.dtype) + 2.0 * args.num_groups * size_of(args.weight.dtype)};
}

void make_edge_case(Args& args, Integers&) {
  edge_case::shorten_rows(edge_case::ragged(args.x.shape[0]), {&args.x, &args.out});
}

namespace reference {

void run(const Args& args, double* const* exact) {
  const int64_t groups = args.num_groups, length = args.x.shape[1] / groups;
  const Row weight = load_vector(args.weight, groups, 1), bias = load_vector(args.bias, groups, 0);
  for_rows(args.x, args.out, exact, 20, [&](Row& x, int64_t) {
    for (int64_t g = 0; g < groups; ++g) {
      double* part = x.data() + g * length;
      normalise(part, length, args.eps);
      for (int64_t i = 0; i < length; ++i)
        part[i] = part[i] * weight[static_cast<size_t>(g)] + bias[static_cast<size_t>(g)];
    }
  });
}

}  // namespace reference

}  // namespace hstujit
