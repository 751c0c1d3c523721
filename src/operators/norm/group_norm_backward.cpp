// The gradient of group norm: facts, checks, key, cost, edge case and reference.
#include "operators/norm/group_norm_backward.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/gradient_checks.hpp"
#include "operators/norm/norm_rows.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using Args = hstu_group_norm_backward_args;
using checks::Tensor;
namespace key = group_norm_backward;

constexpr int kDoutSlot = 3;  // of kTensors
constexpr TensorSlot sum_slot(std::string_view name, size_t offset) {
  return {.name = name,
          .offset = offset,
          .role = TensorRole::output,
          .form = of_rank(1, kFloating).or_absent(),
          .sums_over = kDoutSlot,
          .accumulates = true};
}
constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, forward.x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Args, forward.weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"bias", offsetof(Args, forward.bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"dout", offsetof(Args, dout), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Args, moments), TensorRole::input, of_rank(3, kF32, 0).or_absent()},
    {"dresidual", offsetof(Args, dresidual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"dx", offsetof(Args, dx), TensorRole::output, of_rank(2, kFloating).or_absent()},
    sum_slot("dweight", offsetof(Args, dweight)),
    sum_slot("dbias", offsetof(Args, dbias)),
    {"valid_rows", offsetof(Args, valid_rows), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kScalars[] = {
    {"eps", offsetof(Args, forward.eps), ScalarSlot::Kind::f32, {}, {1e-5f}},
    {"num_groups", offsetof(Args, forward.num_groups), ScalarSlot::Kind::i32, {}, kMustBeSet},
    {"accumulate", offsetof(Args, accumulate), ScalarSlot::Kind::i32},
    {"determinism", offsetof(Args, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};

int64_t sums_of(const Args& args) { return present(args.dweight) + present(args.dbias); }

/// A block takes a group of a row at least.
size_t workspace_bytes(const void* untyped) {
  const Args& args = *static_cast<const Args*>(untyped);
  const int64_t groups = std::max<int64_t>(args.forward.num_groups, 1);  // fewer no call has
  const int64_t rows = std::clamp<int64_t>(args.forward.x.shape[0], 0, layer_norm_backward::kMostBlocks);
  const int64_t blocks = std::clamp<int64_t>(rows * groups, 1, layer_norm_backward::kMostBlocks);
  return static_cast<size_t>(blocks * sums_of(args) * layer_norm_backward::padded(groups)) * sizeof(float);
}
constexpr WorkspaceSlot kWorkspace = {offsetof(Args, workspace), offsetof(Args, workspace_size), workspace_bytes};

/// Those that are there, and what must lie apart.
struct Checked {
  Tensor x, weight, bias, dout, moments, dresidual, dx, dweight, dbias, valid_rows;
};

/// As attention leaves them of its heads; or absent.
Tensor check_moments(Args& args, const Tensor& x) {
  if (!checks::given("moments", args.moments)) return {"moments", args.moments};
  const Tensor moments = checks::part_moments(args.moments, x.t.shape[0], "x.shape[0]");
  checks::extent(moments, 1, args.forward.num_groups, "num_groups");
  return moments;
}

Checked check_tensors(Args& args) {
  hstu_group_norm_args& forward = args.forward;
  const Tensor x = checks::required<2>("x", forward.x);
  checks::floating(x);
  if (forward.num_groups <= 0 || x.t.shape[1] % forward.num_groups != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_groups = {}: it must be positive and divide x.shape[1] = {}",
         forward.num_groups, x.t.shape[1]);
  Checked c{x,
            {"weight", forward.weight},
            {"bias", forward.bias},
            checks::like_x("dout", args.dout, x),
            check_moments(args, x),
            checks::like_x_or_absent("dresidual", args.dresidual, x),
            checks::like_x_or_absent("dx", args.dx, x),
            {"dweight", args.dweight},
            {"dbias", args.dbias},
            checks::valid_rows(args.valid_rows)};
  checks::residual_needs_dx(args.dresidual, args.dx);
  const int64_t count = forward.num_groups;
  const bool weighted = checks::weight_and_bias(forward.weight, forward.bias, count, "num_groups", c.dx);
  c.dweight.bytes = checks::weight_gradient("dweight", args.dweight, weighted, c.weight, count, "num_groups").bytes;
  c.dbias.bytes = checks::weight_gradient("dbias", args.dbias, weighted, c.weight, count, "num_groups").bytes;
  if (present(args.dweight) && present(args.dbias)) checks::same_dtype(c.dbias, c.dweight);
  if (weighted) c.weight.bytes = c.bias.bytes = extent_bytes(forward.weight);
  return c;
}

void check_overlaps(const Checked& c) {
  checks::no_self_overlap(c.dx);
  for (const Tensor* in : {&c.x, &c.dout, &c.dresidual}) checks::disjoint_or_same(c.dx, *in);
  for (const Tensor* in : {&c.moments, &c.valid_rows}) checks::disjoint(c.dx, *in);
  for (const Tensor* out : {&c.dweight, &c.dbias})
    for (const Tensor* other : {&c.x, &c.dout, &c.dresidual, &c.moments, &c.valid_rows, &c.weight, &c.bias, &c.dx})
      checks::disjoint(*out, *other);
  checks::disjoint(c.dweight, c.dbias);
}

/// Groups start at multiples of their length.
int32_t vector_of(const Args& args) {
  checks::Vector vector(args.forward.x.dtype);
  vector.tensor(args.forward.x).tensor(args.dout).length(args.forward.x.shape[1] / args.forward.num_groups);
  if (present(args.dresidual)) vector.tensor(args.dresidual);
  if (present(args.dx)) vector.tensor(args.dx);
  return vector.elements();
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {key::kFields, kTensors, kScalars, &kWorkspace, &kScalars[2]}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  checks::embedded_size("forward.struct_size", args.forward.struct_size, sizeof args.forward);
  const Checked c = check_tensors(args);
  check_overlaps(c);
  args.forward.eps = checks::eps(args.forward.eps);
  checks::flag("accumulate", args.accumulate);
  checks::flag("determinism", static_cast<int32_t>(args.determinism));
  checks::workspace(
      args.workspace, args.workspace_size, workspace_bytes(&args), "hstu_group_norm_backward_workspace_size",
      {&c.x, &c.dout, &c.dresidual, &c.moments, &c.valid_rows, &c.weight, &c.bias, &c.dx, &c.dweight, &c.dbias});

  Problem problem{op_of<Args>(), {}};
  problem[key::kDtype] = args.forward.x.dtype;
  problem[key::kWeightDtype] = args.forward.weight.dtype;
  problem[key::kGradientDtype] = present(args.dweight) ? args.dweight.dtype : args.dbias.dtype;
  problem[key::kHasMoments] = present(args.moments);
  problem[key::kHasDresidual] = present(args.dresidual);
  problem[key::kHasDx] = present(args.dx);
  problem[key::kHasDweight] = present(args.dweight);
  problem[key::kHasDbias] = present(args.dbias);
  problem[key::kDim] = checks::field(c.x, 1);
  problem[key::kGroups] = args.forward.num_groups;
  problem[key::kVector] = vector_of(args);
  problem[key::kRows] = bucket(args.forward.x.shape[0]);
  return problem;
}

// Statistics 4; sums of dout and of its product with x 3; dx 6.
Cost cost_of(const Args& args) {
  const double elements = static_cast<double>(args.forward.x.shape[0]) * static_cast<double>(args.forward.x.shape[1]);
  const bool dx = present(args.dx), reads_x = dx || present(args.dweight), asked = reads_x || present(args.dbias);
  const int flops =
      (reads_x && !present(args.moments) ? 4 : 0) + (reads_x ? 3 : asked) + (dx ? 6 : 0) + present(args.dresidual);
  const int rows_moved = asked + reads_x + dx + present(args.dresidual);
  const int gradient_bytes = size_of(present(args.dweight) ? args.dweight.dtype : args.dbias.dtype);
  return {
      .flops = elements * flops,
      .bytes = elements * rows_moved * size_of(args.forward.x.dtype) +
               args.forward.num_groups * (size_of(args.forward.weight.dtype) +
                                          static_cast<double>(sums_of(args) * (1 + args.accumulate) * gradient_bytes)) +
               bytes_of_all({&args.moments})};
}

void make_edge_case(Args& args, Integers& integers) {
  const int64_t rows = edge_case::ragged(args.forward.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.forward.x, &args.dout, &args.moments, &args.dresidual, &args.dx});
  for (std::vector<int64_t>& valid_rows : integers)  // the one tensor of integers
    for (int64_t& valid : valid_rows) valid = std::min(valid, rows - rows / 3);
}

namespace reference {
namespace {

struct GroupStatistics {
  double mean, rstd;
};
GroupStatistics statistics_of(const Args& args, int64_t row, int64_t group, const double* x, int64_t length) {
  const auto count = static_cast<double>(length);
  double mean = 0, squares = 0;
  if (present(args.moments)) {
    double pair[2];
    load(args.moments, row * args.moments.stride[0] + 2 * group, 2, pair);
    mean = pair[0];
    squares = std::max(pair[1], 0.0);  // random numbers, as tuning has them, may be negative
  } else {
    for (int64_t i = 0; i < length; ++i) mean += x[i] / count;
    for (int64_t i = 0; i < length; ++i) squares += (x[i] - mean) * (x[i] - mean);
  }
  return {mean, 1 / std::sqrt(squares / count + args.forward.eps)};
}

/// A row of the call: dout, and x normalised group by group.
struct GradientRow {
  Row xhat, dout;
  std::vector<double> rstd;  ///< of each group
  size_t length;

  GradientRow(const Args& args, int64_t row)
      : xhat(load_row(args.forward.x, row)), dout(load_row(args.dout, row)), length(xhat.size()) {
    const int64_t groups = args.forward.num_groups;
    length /= static_cast<size_t>(groups);
    for (int64_t g = 0; g < groups; ++g) {
      double* const part = xhat.data() + static_cast<size_t>(g) * length;
      const GroupStatistics s = statistics_of(args, row, g, part, static_cast<int64_t>(length));
      for (size_t i = 0; i < length; ++i) part[i] = (part[i] - s.mean) * s.rstd;
      rstd.push_back(s.rstd);
    }
  }
  /// dx without dresidual.
  Row gradient(const Row& weight) const {
    const auto count = static_cast<double>(length);
    Row dx(xhat.size());
    for (size_t g = 0; g < rstd.size(); ++g) {
      const size_t first = g * length, end = first + length;
      double mean = 0, mean_x = 0;
      for (size_t i = first; i < end; ++i) {
        mean += dout[i] / count;
        mean_x += dout[i] * xhat[i] / count;
      }
      for (size_t i = first; i < end; ++i) dx[i] = weight[g] * rstd[g] * (dout[i] - mean - xhat[i] * mean_x);
    }
    return dx;
  }
};

int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.forward.x.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

constexpr int64_t kParts = 64;  // of the rows, whose sums are joined in order

/// Sums over the valid rows and each group's columns of what term() makes of an element's dout and xhat.
template <class Term>
Row group_sums(const Args& args, const Term& term) {
  const auto groups = static_cast<size_t>(args.forward.num_groups);
  const int64_t rows = valid_rows_of(args);
  std::vector<Row> parts(kParts, Row(groups));
  const double elements = static_cast<double>(rows) * static_cast<double>(args.forward.x.shape[1]);
  parallel_for(kParts, 20.0 * elements, [&](int64_t part) {
    Row& sums = parts[static_cast<size_t>(part)];
    for (int64_t r = part * rows / kParts; r < (part + 1) * rows / kParts; ++r) {
      const GradientRow row(args, r);
      for (size_t i = 0; i < row.dout.size(); ++i) sums[i / row.length] += term(row.dout[i], row.xhat[i]);
    }
  });
  for (int64_t part = 1; part < kParts; ++part)
    for (size_t g = 0; g < groups; ++g) parts[0][g] += parts[static_cast<size_t>(part)][g];
  return std::move(parts[0]);
}

void write_sums(const hstu_tensor& to, bool accumulate, const Output& out, Row sums) {
  const auto groups = static_cast<int64_t>(sums.size());
  if (accumulate) {
    const Row before = load_vector(to, groups, 0);
    for (size_t g = 0; g < sums.size(); ++g) sums[g] += before[g];
  }
  out.write(0, 0, groups, sums.data());
}

double weight_term(double dout, double xhat) { return dout * xhat; }
double bias_term(double dout, double) { return dout; }

void write_dx(const Args& args, const Output& out) {
  const int64_t rows = args.forward.x.shape[0], dim = args.forward.x.shape[1];
  const Row weight = load_vector(args.forward.weight, args.forward.num_groups, 1);
  parallel_for(rows, 30.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t r) {
    Row dx = GradientRow(args, r).gradient(weight);
    if (present(args.dresidual)) {
      const Row more = load_row(args.dresidual, r);
      for (size_t i = 0; i < dx.size(); ++i) dx[i] += more[i];
    }
    out.write(r, 0, dim, dx.data());
  });
}

}  // namespace

SizesOfTerms sizes_of_terms(const Args& args) {
  const auto roots = [&](double (*term)(double, double)) {
    Row sums = group_sums(args, [&](double dout, double xhat) {
      const double t = term(dout, xhat);
      return t * t;
    });
    for (double& sum : sums) sum = std::sqrt(sum);
    return sums;
  };
  return {roots(weight_term), roots(bias_term)};
}

// Sums first: dx may be in the place of x or dout.
void run(const Args& args, double* const* exact) {
  if (present(args.dweight))
    write_sums(args.dweight, args.accumulate, Output(args.dweight, exact, 1), group_sums(args, weight_term));
  if (present(args.dbias))
    write_sums(args.dbias, args.accumulate, Output(args.dbias, exact, 2), group_sums(args, bias_term));
  if (present(args.dx)) write_dx(args, Output(args.dx, exact, 0));
}

}  // namespace reference
}  // namespace hstujit
