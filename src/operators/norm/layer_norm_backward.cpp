// The gradient of layer norm: facts, checks, key, cost, edge case and reference.
#include "operators/norm/layer_norm_backward.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using Args = hstu_layer_norm_backward_args;
using checks::Tensor;
namespace key = layer_norm_backward;

constexpr int kDoutSlot = 3;  // of kTensors
constexpr TensorSlot kTensors[] = {
    {"x", offsetof(Args, forward.x), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Args, forward.weight), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"bias", offsetof(Args, forward.bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"dout", offsetof(Args, dout), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Args, moments), TensorRole::input, of_rank(3, kF32).or_absent()},
    {"dresidual", offsetof(Args, dresidual), TensorRole::input, of_rank(2, kFloating).or_absent()},
    {"dx", offsetof(Args, dx), TensorRole::output, of_rank(2, kFloating).or_absent()},
    {.name = "dweight",
     .offset = offsetof(Args, dweight),
     .role = TensorRole::output,
     .form = of_rank(1, kFloating).or_absent(),
     .sums_over = kDoutSlot,
     .accumulates = true},
    {.name = "dbias",
     .offset = offsetof(Args, dbias),
     .role = TensorRole::output,
     .form = of_rank(1, kFloating).or_absent(),
     .sums_over = kDoutSlot,
     .accumulates = true},
    {"valid_rows", offsetof(Args, valid_rows), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kScalars[] = {
    {"eps", offsetof(Args, forward.eps), ScalarSlot::Kind::f32, {}, {1e-5f}},
    {"accumulate", offsetof(Args, accumulate), ScalarSlot::Kind::i32},
    {"determinism", offsetof(Args, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};

int64_t sums_of(const Args& args) { return present(args.dweight) + present(args.dbias); }

size_t workspace_bytes(const void* untyped) {
  const Args& args = *static_cast<const Args*>(untyped);
  const int64_t blocks = std::clamp<int64_t>(args.forward.x.shape[0], 1, key::kMostBlocks);
  const int64_t dim = std::clamp<int64_t>(args.forward.x.shape[1], 0, INT32_MAX);  // others no call has
  return static_cast<size_t>(blocks * sums_of(args) * layer_norm_backward::padded(dim)) * sizeof(float);
}
constexpr WorkspaceSlot kWorkspace = {offsetof(Args, workspace), offsetof(Args, workspace_size), workspace_bytes};

/// Like x, [rows, dim].
Tensor like_x(const char* name, hstu_tensor& t, const Tensor& x) {
  const Tensor like = checks::required<2>(name, t);
  checks::same_dtype(like, x);
  checks::extent(like, 0, x.t.shape[0], "x.shape[0]");
  checks::extent(like, 1, x.t.shape[1], "x.shape[1]");
  return like;
}

/// Those that are there, and what must lie apart.
struct Checked {
  Tensor x, weight, bias, dout, moments, dresidual, dx, dweight, dbias, valid_rows;
};

Tensor check_moments(hstu_tensor& t, const Tensor& x) {
  if (!checks::given("moments", t)) return {"moments", t};
  const Tensor moments = checks::required<3>("moments", t);
  checks::is_f32(moments);
  checks::extent(moments, 0, x.t.shape[0], "x.shape[0]");
  checks::extent(moments, 1, 1, "the number of parts");
  checks::extent(moments, 2, 2, "mean and squares, their number");
  if (reinterpret_cast<uintptr_t>(t.data) % 8 != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.data = {}: it must be aligned to 8 bytes, as each row's pair", t.data);
  if (t.stride[0] % 2 != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.stride[0] = {}: it must be even, so that each row's pair is aligned",
         t.stride[0]);
  return moments;
}

Tensor check_valid_rows(hstu_tensor& t) {
  if (!checks::given("valid_rows", t)) return {"valid_rows", t};
  const Tensor valid = checks::required<1>("valid_rows", t);
  checks::integer(valid);
  checks::extent(valid, 0, 1, "one number, its extent");
  return valid;
}

/// dweight or dbias, of weight's type or f32.
Tensor check_weight_gradient(const char* name, hstu_tensor& t, bool weighted, const Tensor& weight, const Tensor& x) {
  if (!checks::given(name, t)) return {name, t};
  if (!weighted)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "{} is there, but weight is absent: there is nothing to take its gradient of; leave {} out", name, name);
  const Tensor gradient = checks::required<1>(name, t);
  checks::extent(gradient, 0, x.t.shape[1], "x.shape[1]");
  if (t.dtype != HSTU_DTYPE_F32) checks::same_dtype(gradient, weight);
  return gradient;
}

Checked check_tensors(Args& args) {
  hstu_layer_norm_args& forward = args.forward;
  const Tensor x = checks::required<2>("x", forward.x);
  checks::floating(x);
  Checked c{x,
            {"weight", forward.weight},
            {"bias", forward.bias},
            like_x("dout", args.dout, x),
            check_moments(args.moments, x),
            {"dresidual", args.dresidual},
            {"dx", args.dx},
            {"dweight", args.dweight},
            {"dbias", args.dbias},
            check_valid_rows(args.valid_rows)};
  if (checks::given("dx", args.dx)) c.dx.bytes = like_x("dx", args.dx, x).bytes;
  if (checks::given("dresidual", args.dresidual)) {
    c.dresidual.bytes = like_x("dresidual", args.dresidual, x).bytes;
    if (!present(args.dx))
      fail(HSTU_ERROR_INVALID_ARGUMENT,
           "dresidual is there, but dx is absent: dresidual is added to dx; give dx or leave dresidual out");
  }
  const bool weighted = checks::weight_and_bias(forward.weight, forward.bias, x.t.shape[1], "x.shape[1]", c.dx);
  c.dweight.bytes = check_weight_gradient("dweight", args.dweight, weighted, c.weight, x).bytes;
  c.dbias.bytes = check_weight_gradient("dbias", args.dbias, weighted, c.weight, x).bytes;
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

void check_workspace(Args& args, const Checked& c) {
  const size_t needed = workspace_bytes(&args);
  if (needed == 0) return;
  if (args.workspace_size < needed)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "workspace_size = {}: it must be at least {}, as hstu_layer_norm_backward_workspace_size() says",
         args.workspace_size, needed);
  if (!args.workspace || reinterpret_cast<uintptr_t>(args.workspace) % kWorkspaceAlignment != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace = {}: it must be device memory aligned to {} bytes", args.workspace,
         kWorkspaceAlignment);
  hstu_tensor space = hstu_vector(args.workspace, HSTU_DTYPE_F32, static_cast<int64_t>(needed / sizeof(float)));
  const Tensor workspace{"workspace", space, static_cast<int64_t>(needed)};
  for (const Tensor* other :
       {&c.x, &c.dout, &c.dresidual, &c.moments, &c.valid_rows, &c.weight, &c.bias, &c.dx, &c.dweight, &c.dbias})
    checks::disjoint(workspace, *other);
}

int32_t vector_of(const Args& args) {
  checks::Vector vector(args.forward.x.dtype);
  vector.tensor(args.forward.x).tensor(args.dout);
  if (present(args.dresidual)) vector.tensor(args.dresidual);
  if (present(args.dx)) vector.tensor(args.dx);
  if (present(args.forward.weight)) vector.address(args.forward.weight);
  return vector.elements();
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {key::kFields, kTensors, kScalars, &kWorkspace, &kScalars[1]}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  checks::embedded_size("forward.struct_size", args.forward.struct_size, sizeof args.forward);
  const Checked c = check_tensors(args);
  check_overlaps(c);
  args.forward.eps = checks::eps(args.forward.eps);
  checks::flag("accumulate", args.accumulate);
  checks::flag("determinism", static_cast<int32_t>(args.determinism));
  check_workspace(args, c);

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
  problem[key::kVector] = vector_of(args);
  problem[key::kRows] = bucket(args.forward.x.shape[0]);
  return problem;
}

// Statistics 4; g, its sum and the one of g * xhat 4; xhat 2; dx 4; products and sums for weight and bias 2 and 1.
Cost cost_of(const Args& args) {
  const double dim = static_cast<double>(args.forward.x.shape[1]);
  const double elements = static_cast<double>(args.forward.x.shape[0]) * dim;
  const bool dx = present(args.dx), reads_x = dx || present(args.dweight);
  const int flops = (reads_x && !present(args.moments) ? 4 : 0) + (reads_x ? 2 : 0) + (dx ? 8 : 0) +
                    present(args.dresidual) + 2 * present(args.dweight) + present(args.dbias);
  const int rows_moved = 1 + reads_x + dx + present(args.dresidual);
  const int gradient_bytes = size_of(present(args.dweight) ? args.dweight.dtype : args.dbias.dtype);
  return {.flops = elements * flops,
          .bytes = elements * rows_moved * size_of(args.forward.x.dtype) +
                   dim * (size_of(args.forward.weight.dtype) +
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

struct RowStatistics {
  double mean, rstd;
};
RowStatistics statistics_of(const Args& args, int64_t row, const std::vector<double>& x) {
  const auto count = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  if (present(args.moments)) {
    double pair[2];
    load(args.moments, row * args.moments.stride[0], 2, pair);
    mean = pair[0];
    squares = std::max(pair[1], 0.0);  // random numbers, as tuning has them, may be negative
  } else {
    for (const double value : x) mean += value / count;
    for (const double value : x) squares += (value - mean) * (value - mean);
  }
  return {mean, 1 / std::sqrt(squares / count + args.forward.eps)};
}

/// One row of the call, and the terms of its sums.
struct Row {
  std::vector<double> dout, xhat;
  double rstd;

  Row(const Args& args, int64_t row) : dout(static_cast<size_t>(args.forward.x.shape[1])), xhat(dout) {
    const auto dim = static_cast<int64_t>(dout.size());
    load(args.dout, row * args.dout.stride[0], dim, dout.data());
    load(args.forward.x, row * args.forward.x.stride[0], dim, xhat.data());
    const RowStatistics s = statistics_of(args, row, xhat);
    for (double& x : xhat) x = (x - s.mean) * s.rstd;
    rstd = s.rstd;
  }
  /// dx without dresidual.
  std::vector<double> gradient(const std::vector<double>& weight) const {
    const auto count = static_cast<double>(dout.size());
    std::vector<double> dx(dout.size());
    double mean_g = 0, mean_gx = 0;
    for (size_t i = 0; i < dx.size(); ++i) {
      dx[i] = dout[i] * weight[i];
      mean_g += dx[i] / count;
      mean_gx += dx[i] * xhat[i] / count;
    }
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = rstd * (dx[i] - mean_g - xhat[i] * mean_gx);
    return dx;
  }
};

int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.forward.x.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

constexpr int64_t kParts = 64;  // of the rows, whose sums are joined in order

/// Sums over the valid rows of what term() makes of an element's dout and xhat.
template <class Term>
std::vector<double> column_sums(const Args& args, const Term& term) {
  const auto dim = static_cast<size_t>(args.forward.x.shape[1]);
  const int64_t rows = valid_rows_of(args);
  std::vector<std::vector<double>> parts(kParts, std::vector<double>(dim));
  parallel_for(kParts, 20.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t part) {
    std::vector<double>& sums = parts[static_cast<size_t>(part)];
    for (int64_t r = part * rows / kParts; r < (part + 1) * rows / kParts; ++r) {
      const Row row(args, r);
      for (size_t i = 0; i < dim; ++i) sums[i] += term(row.dout[i], row.xhat[i]);
    }
  });
  for (int64_t part = 1; part < kParts; ++part)
    for (size_t i = 0; i < dim; ++i) parts[0][i] += parts[static_cast<size_t>(part)][i];
  return std::move(parts[0]);
}

void write_sums(const Args& args, const hstu_tensor& to, const Output& out, std::vector<double> sums) {
  const auto dim = static_cast<int64_t>(sums.size());
  if (args.accumulate) {
    const std::vector<double> before = load_vector(to, dim, 0);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += before[i];
  }
  out.write(0, 0, dim, sums.data());
}

double weight_term(double dout, double xhat) { return dout * xhat; }
double bias_term(double dout, double) { return dout; }

void write_dx(const Args& args, const Output& out) {
  const int64_t rows = args.forward.x.shape[0], dim = args.forward.x.shape[1];
  const std::vector<double> weight = load_vector(args.forward.weight, dim, 1);
  parallel_for(rows, 30.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t r) {
    std::vector<double> dx = Row(args, r).gradient(weight);
    if (present(args.dresidual)) {
      std::vector<double> more(dx.size());
      load(args.dresidual, r * args.dresidual.stride[0], dim, more.data());
      for (size_t i = 0; i < dx.size(); ++i) dx[i] += more[i];
    }
    out.write(r, 0, dim, dx.data());
  });
}

}  // namespace

SizesOfTerms sizes_of_terms(const Args& args) {
  const auto roots = [&](double (*term)(double, double)) {
    std::vector<double> sums = column_sums(args, [&](double dout, double xhat) {
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
    write_sums(args, args.dweight, Output(args.dweight, exact, 1), column_sums(args, weight_term));
  if (present(args.dbias)) write_sums(args, args.dbias, Output(args.dbias, exact, 2), column_sums(args, bias_term));
  if (present(args.dx)) write_dx(args, Output(args.dx, exact, 0));
}

}  // namespace reference
}  // namespace hstujit
