// The gradients of RMS norm and of swish layer norm: facts, checks, key, cost, edge case and reference. They differ in
// the mean and in what follows the norm.
#include "operators/norm/row_norm_backward.hpp"

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

using Rms = hstu_rms_norm_backward_args;
using Swish = hstu_swish_layer_norm_backward_args;
using checks::Tensor;
namespace key = row_norm_backward;

constexpr TensorSlot sum_slot(std::string_view name, size_t offset, int dout) {
  return {.name = name,
          .offset = offset,
          .role = TensorRole::output,
          .form = of_rank(1, kFloating).or_absent(),
          .sums_over = dout,
          .accumulates = true};
}

constexpr int kDoutOfRms = 2, kDoutOfSwish = 3;  // of the tables below
constexpr TensorSlot kRmsTensors[] = {
    {"x", offsetof(Rms, forward.x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Rms, forward.weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"dout", offsetof(Rms, dout), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Rms, moments), TensorRole::input, of_rank(3, kF32).or_absent()},
    {"dresidual", offsetof(Rms, dresidual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"dx", offsetof(Rms, dx), TensorRole::output, of_rank(2, kFloating).or_absent()},
    sum_slot("dweight", offsetof(Rms, dweight), kDoutOfRms),
    {"valid_rows", offsetof(Rms, valid_rows), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr TensorSlot kSwishTensors[] = {
    {"x", offsetof(Swish, forward.x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Swish, forward.weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"bias", offsetof(Swish, forward.bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"dout", offsetof(Swish, dout), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Swish, moments), TensorRole::input, of_rank(3, kF32).or_absent()},
    {"dresidual", offsetof(Swish, dresidual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"dx", offsetof(Swish, dx), TensorRole::output, of_rank(2, kFloating).or_absent()},
    sum_slot("dweight", offsetof(Swish, dweight), kDoutOfSwish),
    sum_slot("dbias", offsetof(Swish, dbias), kDoutOfSwish),
    {"valid_rows", offsetof(Swish, valid_rows), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};

constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kRmsScalars[] = {
    {"eps", offsetof(Rms, forward.eps), ScalarSlot::Kind::f64, {}, {1e-5f}},
    {"activation", offsetof(Rms, forward.activation), ScalarSlot::Kind::i32, kActivationWords},
    {"accumulate", offsetof(Rms, accumulate), ScalarSlot::Kind::i32},
    {"determinism", offsetof(Rms, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};
constexpr ScalarSlot kSwishScalars[] = {
    {"eps", offsetof(Swish, forward.eps), ScalarSlot::Kind::f64, {}, {1e-5f}},
    {"accumulate", offsetof(Swish, accumulate), ScalarSlot::Kind::i32},
    {"determinism", offsetof(Swish, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};

/// Layer norm, with a mean and a bias.
template <class Args>
constexpr bool kCentred = requires(Args a) {
  a.dbias;
};

/// dbias of a norm that has a bias.
template <class Args>
const hstu_tensor& dbias_of(const Args& args) {
  static constexpr hstu_tensor kNone{};
  if constexpr (kCentred<Args>)
    return args.dbias;
  else
    return kNone;
}
template <class Args>
hstu_dtype gradient_dtype(const Args& args) {
  return static_cast<hstu_dtype>(present(args.dweight) ? args.dweight.dtype : dbias_of(args).dtype);
}
template <class Args>
hstu_activation activation_of(const Args& args) {
  if constexpr (kCentred<Args>)
    return HSTU_ACTIVATION_NONE;
  else
    return args.forward.activation;
}

template <class Args>
int64_t sums_of(const Args& args) {
  return present(args.dweight) + present(dbias_of(args));
}

template <class Args>
size_t workspace_bytes(const void* untyped) {
  const Args& args = *static_cast<const Args*>(untyped);
  const int64_t blocks = std::clamp<int64_t>(args.forward.x.shape[0], 1, layer_norm_backward::kMostBlocks);
  const int64_t dim = std::clamp<int64_t>(args.forward.x.shape[1], 0, INT32_MAX);  // others no call has
  return static_cast<size_t>(blocks * sums_of(args) * layer_norm_backward::padded(dim)) * sizeof(float);
}
template <class Args>
constexpr WorkspaceSlot kWorkspace = {offsetof(Args, workspace), offsetof(Args, workspace_size), workspace_bytes<Args>};

/// Those that are there, and what must lie apart.
struct Checked {
  Tensor x, weight, bias, dout, moments, dresidual, dx, dweight, dbias, valid_rows;
};

/// weight of RMS norm, weight and bias of layer norm: says whether they are there.
bool check_weights(Rms& args, const Checked& c) {
  if (!checks::given("weight", args.forward.weight)) return false;
  checks::weight("weight", args.forward.weight, args.forward.x.shape[1], "x.shape[1]", c.dx);
  return true;
}
bool check_weights(Swish& args, const Checked& c) {
  return checks::weight_and_bias(args.forward.weight, args.forward.bias, args.forward.x.shape[1], "x.shape[1]", c.dx);
}

template <class Args>
Checked check_tensors(Args& args, hstu_tensor& bias, hstu_tensor& dbias) {
  const Tensor x = checks::required<2>("x", args.forward.x);
  checks::floating(x);
  Checked c{x,
            {"weight", args.forward.weight},
            {"bias", bias},
            checks::like_x("dout", args.dout, x),
            checks::row_moments(args.moments, x),
            checks::like_x_or_absent("dresidual", args.dresidual, x),
            checks::like_x_or_absent("dx", args.dx, x),
            {"dweight", args.dweight},
            {"dbias", dbias},
            checks::valid_rows(args.valid_rows)};
  checks::residual_needs_dx(args.dresidual, args.dx);
  const bool weighted = check_weights(args, c);
  c.dweight.bytes = checks::weight_gradient("dweight", args.dweight, weighted, c.weight, x).bytes;
  c.dbias.bytes = checks::weight_gradient("dbias", dbias, weighted, c.weight, x).bytes;
  if (present(args.dweight) && present(dbias)) checks::same_dtype(c.dbias, c.dweight);
  c.weight.bytes = extent_bytes(args.forward.weight);
  c.bias.bytes = extent_bytes(bias);
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

/// Of loads of all that has columns, but of the sums.
template <class Args>
int32_t vector_of(const Args& args, const hstu_tensor& bias) {
  checks::Vector vector(args.forward.x.dtype);
  vector.tensor(args.forward.x).tensor(args.dout);
  if (present(args.dresidual)) vector.tensor(args.dresidual);
  if (present(args.dx)) vector.tensor(args.dx);
  if (present(args.forward.weight)) vector.address(args.forward.weight);
  if (present(bias)) vector.address(bias);
  return vector.elements();
}

void check_activation(const Rms& args) {
  const int activation = checks::code(args.forward.activation);
  if (activation != HSTU_ACTIVATION_NONE && activation != HSTU_ACTIVATION_SILU)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "activation = {}: rms_norm covers NONE (0) and SILU (1)", activation);
}
void check_activation(const Swish&) {}

/// bias, dbias: of the call, or absent ones.
template <class Args>
Problem prepare_gradient(Args& args, hstu_tensor& bias, hstu_tensor& dbias, const char* workspace_function) {
  checks::struct_size(args.struct_size, sizeof args);
  checks::embedded_size("forward.struct_size", args.forward.struct_size, sizeof args.forward);
  const Checked c = check_tensors(args, bias, dbias);
  check_overlaps(c);
  check_activation(args);
  args.forward.eps = checks::eps(args.forward.eps);
  checks::flag("accumulate", args.accumulate);
  checks::flag("determinism", static_cast<int32_t>(args.determinism));
  checks::workspace(
      args.workspace, args.workspace_size, workspace_bytes<Args>(&args), workspace_function,
      {&c.x, &c.dout, &c.dresidual, &c.moments, &c.valid_rows, &c.weight, &c.bias, &c.dx, &c.dweight, &c.dbias});

  Problem problem{op_of<Args>(), {}};
  problem[key::kDtype] = args.forward.x.dtype;
  problem[key::kWeightDtype] = args.forward.weight.dtype;
  problem[key::kGradientDtype] = gradient_dtype(args);
  problem[key::kHasMoments] = present(args.moments);
  problem[key::kHasDresidual] = present(args.dresidual);
  problem[key::kHasDx] = present(args.dx);
  problem[key::kHasDweight] = present(args.dweight);
  problem[key::kHasDbias] = present(dbias);
  problem[key::kActivation] = activation_of(args);
  problem[key::kDim] = checks::field(c.x, 1);
  problem[key::kVector] = vector_of(args, bias);
  problem[key::kRows] = bucket(args.forward.x.shape[0]);
  return problem;
}

/// Statistics: 2, of layer norm 4; xhat 1, of layer norm 2; what follows the norm; products and sums for weight and
/// bias 2 and 1; dx: g, its sums and their use 6, of layer norm 8.
template <class Args>
Cost cost_of_gradient(const Args& args, int flops_behind) {
  const double dim = static_cast<double>(args.forward.x.shape[1]);
  const double elements = static_cast<double>(args.forward.x.shape[0]) * dim;
  const bool dx = present(args.dx), moments = present(args.moments), asked = dx || sums_of(args) > 0;
  const int flops = asked * ((moments ? 0 : 2 + 2 * kCentred<Args>)+1 + kCentred<Args> + flops_behind) +
                    dx * (6 + 2 * kCentred<Args>)+present(args.dresidual) + 2 * present(args.dweight) +
                    present(dbias_of(args));
  const int rows_moved = 2 * asked + dx + present(args.dresidual);
  return {.flops = elements * flops,
          .bytes = elements * rows_moved * size_of(args.forward.x.dtype) +
                   dim * (size_of(args.forward.weight.dtype) +
                          static_cast<double>(sums_of(args) * (1 + args.accumulate) * size_of(gradient_dtype(args)))) +
                   bytes_of_all({&args.moments})};
}

template <class Args>
void make_edge_case_of(Args& args, Integers& integers) {
  const int64_t rows = edge_case::ragged(args.forward.x.shape[0]);
  edge_case::shorten_rows(rows, {&args.forward.x, &args.dout, &args.moments, &args.dresidual, &args.dx});
  for (std::vector<int64_t>& valid_rows : integers)  // the one tensor of integers
    for (int64_t& valid : valid_rows) valid = std::min(valid, rows - rows / 3);
}

}  // namespace

OperatorFacts facts_of(const Rms*) {
  return {key::kFields, kRmsTensors, kRmsScalars, &kWorkspace<Rms>, &kRmsScalars[2]};
}
OperatorFacts facts_of(const Swish*) {
  return {key::kFields, kSwishTensors, kSwishScalars, &kWorkspace<Swish>, &kSwishScalars[1]};
}

Problem prepare(Rms& args) {
  hstu_tensor bias{}, dbias{};
  return prepare_gradient(args, bias, dbias, "hstu_rms_norm_backward_workspace_size");
}
Problem prepare(Swish& args) {
  return prepare_gradient(args, args.forward.bias, args.dbias, "hstu_swish_layer_norm_backward_workspace_size");
}

// silu' is a sigmoid, counted as one, and 4; swish 1 and 4 with what passes the norm; n is a product and a sum.
Cost cost_of(const Rms& args) {
  return cost_of_gradient(args, args.forward.activation == HSTU_ACTIVATION_SILU ? 5 + present(args.forward.weight) : 0);
}
Cost cost_of(const Swish& args) {
  return cost_of_gradient(args, 5 + present(args.dx) + 2 * present(args.forward.weight));
}

void make_edge_case(Rms& args, Integers& integers) { make_edge_case_of(args, integers); }
void make_edge_case(Swish& args, Integers& integers) { make_edge_case_of(args, integers); }

namespace reference {
namespace {

/// Mean, 0 of RMS norm, and 1 / sqrt.
struct RowStatistics {
  double mean, rstd;
};
template <class Args>
RowStatistics statistics_of(const Args& args, int64_t row, const Row& x) {
  const auto count = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  if (present(args.moments)) {
    double pair[2];
    load(args.moments, row * args.moments.stride[0], 2, pair);
    mean = pair[0];
    squares = std::max(pair[1], 0.0);  // random numbers, as tuning has them, may be negative
    if (!kCentred<Args>) squares += count * mean * mean;
  } else {
    if (kCentred<Args>)
      for (const double value : x) mean += value / count;
    for (const double value : x) squares += (value - mean) * (value - mean);
  }
  return {kCentred<Args> ? mean : 0, 1 / std::sqrt(squares / count + args.forward.eps)};
}

struct Weights {
  Row weight, bias;

  explicit Weights(const Rms& args)
      : weight(load_vector(args.forward.weight, args.forward.x.shape[1], 1)), bias(weight.size()) {}
  explicit Weights(const Swish& args)
      : weight(load_vector(args.forward.weight, args.forward.x.shape[1], 1)),
        bias(load_vector(args.forward.bias, args.forward.x.shape[1], 0)) {}
};

/// Of an element: the gradient of what the norm gave, and what of dx passes the norm.
struct OfResult {
  double of_norm, direct;
};
OfResult of_result(const Rms& args, double dout, double, double norm) {
  if (args.forward.activation == HSTU_ACTIVATION_NONE) return {dout, 0};
  const double s = sigmoid(norm);
  return {dout * s * (1 + norm * (1 - s)), 0};
}
OfResult of_result(const Swish&, double dout, double x, double norm) {
  const double s = sigmoid(norm);
  return {dout * x * s * (1 - s), dout * s};
}

/// One row of the call, and the terms of its sums.
struct GradientRow {
  Row xhat, of_norm, direct;
  double rstd;

  template <class Args>
  GradientRow(const Args& args, const Weights& weights, int64_t row)
      : xhat(load_row(args.forward.x, row)), of_norm(load_row(args.dout, row)), direct(xhat.size()) {
    const RowStatistics s = statistics_of(args, row, xhat);
    rstd = s.rstd;
    for (size_t i = 0; i < xhat.size(); ++i) {
      const double x = xhat[i];
      xhat[i] = (x - s.mean) * s.rstd;
      const OfResult of = of_result(args, of_norm[i], x, xhat[i] * weights.weight[i] + weights.bias[i]);
      of_norm[i] = of.of_norm;
      direct[i] = of.direct;
    }
  }
  /// dx without dresidual.
  Row gradient(const Row& weight, bool centred) const {
    const auto count = static_cast<double>(xhat.size());
    Row dx(xhat.size());
    double mean_g = 0, mean_gx = 0;
    for (size_t i = 0; i < dx.size(); ++i) {
      dx[i] = of_norm[i] * weight[i];
      if (centred) mean_g += dx[i] / count;
      mean_gx += dx[i] * xhat[i] / count;
    }
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = rstd * (dx[i] - mean_g - xhat[i] * mean_gx) + direct[i];
    return dx;
  }
};

template <class Args>
int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.forward.x.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

constexpr int64_t kParts = 64;  // of the rows, whose sums are joined in order

/// Sums over the valid rows of what term() makes of an element's gradient of the norm and xhat.
template <class Args, class Term>
Row column_sums(const Args& args, const Term& term) {
  const auto dim = static_cast<size_t>(args.forward.x.shape[1]);
  const int64_t rows = valid_rows_of(args);
  const Weights weights(args);
  std::vector<Row> parts(kParts, Row(dim));
  parallel_for(kParts, 40.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t part) {
    Row& sums = parts[static_cast<size_t>(part)];
    for (int64_t r = part * rows / kParts; r < (part + 1) * rows / kParts; ++r) {
      const GradientRow row(args, weights, r);
      for (size_t i = 0; i < dim; ++i) sums[i] += term(row.of_norm[i], row.xhat[i]);
    }
  });
  for (int64_t part = 1; part < kParts; ++part)
    for (size_t i = 0; i < dim; ++i) parts[0][i] += parts[static_cast<size_t>(part)][i];
  return std::move(parts[0]);
}

void write_sums(const hstu_tensor& to, bool accumulate, const Output& out, Row sums) {
  const auto dim = static_cast<int64_t>(sums.size());
  if (accumulate) {
    const Row before = load_vector(to, dim, 0);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += before[i];
  }
  out.write(0, 0, dim, sums.data());
}

double weight_term(double of_norm, double xhat) { return of_norm * xhat; }
double bias_term(double of_norm, double) { return of_norm; }

template <class Args>
void write_dx(const Args& args, const Output& out) {
  const int64_t rows = args.forward.x.shape[0], dim = args.forward.x.shape[1];
  const Weights weights(args);
  parallel_for(rows, 50.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t r) {
    Row dx = GradientRow(args, weights, r).gradient(weights.weight, kCentred<Args>);
    if (present(args.dresidual)) {
      const Row more = load_row(args.dresidual, r);
      for (size_t i = 0; i < dx.size(); ++i) dx[i] += more[i];
    }
    out.write(r, 0, dim, dx.data());
  });
}

template <class Args>
SizesOfTerms sizes_of(const Args& args) {
  const auto roots = [&](double (*term)(double, double)) {
    Row sums = column_sums(args, [&](double of_norm, double xhat) {
      const double t = term(of_norm, xhat);
      return t * t;
    });
    for (double& sum : sums) sum = std::sqrt(sum);
    return sums;
  };
  return {roots(weight_term), roots(bias_term)};
}

// Sums first: dx may be in the place of x or dout.
template <class Args>
void run_gradient(const Args& args, double* const* exact) {
  if (present(args.dweight))
    write_sums(args.dweight, args.accumulate, Output(args.dweight, exact, 1), column_sums(args, weight_term));
  const hstu_tensor& dbias = dbias_of(args);
  if (present(dbias)) write_sums(dbias, args.accumulate, Output(dbias, exact, 2), column_sums(args, bias_term));
  if (present(args.dx)) write_dx(args, Output(args.dx, exact, 0));
}

}  // namespace

SizesOfTerms sizes_of_terms(const Rms& args) { return sizes_of(args); }
SizesOfTerms sizes_of_terms(const Swish& args) { return sizes_of(args); }

void run(const Rms& args, double* const* exact) { run_gradient(args, exact); }
void run(const Swish& args, double* const* exact) { run_gradient(args, exact); }

}  // namespace reference
}  // namespace hstujit
