// The gradient of the HSTU output stage before its projection: facts, checks, key, cost, edge case and reference.
#include "operators/norm/norm_mul_backward.hpp"

#include "operators/edge_case.hpp"
#include "operators/norm/gradient_checks.hpp"
#include "operators/norm/norm_mul.hpp"
#include "operators/norm/row_checks.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using Args = hstu_norm_mul_backward_args;
using checks::Tensor;
namespace key = norm_mul_backward;

constexpr int kDoutSlot = 4;  // of kTensors
constexpr TensorSlot sum_slot(std::string_view name, size_t offset) {
  return {.name = name,
          .offset = offset,
          .role = TensorRole::output,
          .form = of_rank(1, kFloating).or_absent(),
          .sums_over = kDoutSlot,
          .accumulates = true};
}
constexpr TensorSlot kTensors[] = {
    {"attn", offsetof(Args, forward.attn), TensorRole::input, of_rank(2, kFloating)},
    {"u", offsetof(Args, forward.u), TensorRole::input, of_rank(2, kFloating)},
    {"weight", offsetof(Args, forward.weight), TensorRole::input, of_rank(1, kFloating)},
    {"bias", offsetof(Args, forward.bias), TensorRole::input, of_rank(1, kFloating).or_absent()},
    {"dout", offsetof(Args, dout), TensorRole::input, of_rank(2, kFloating)},
    {"moments", offsetof(Args, moments), TensorRole::input, of_rank(3, kF32, 0).or_absent()},
    {"dattn", offsetof(Args, dattn), TensorRole::output, of_rank(2, kFloating).or_absent()},
    {"du", offsetof(Args, du), TensorRole::output, of_rank(2, kFloating).or_absent()},
    sum_slot("dweight", offsetof(Args, dweight)),
    sum_slot("dbias", offsetof(Args, dbias)),
    {"out", offsetof(Args, out), TensorRole::output, of_rank(2, kFloating).or_absent()},
    {"valid_rows", offsetof(Args, valid_rows), TensorRole::integer, of_rank(1, kIntegers).or_absent()}};
enum : int { kDattn, kDu, kDweight, kDbias, kOut };  // outputs, in their order

constexpr std::string_view kDeterminismWords[] = {"deterministic", "fastest"};
constexpr ScalarSlot kScalars[] = {
    {"accumulate", offsetof(Args, accumulate), ScalarSlot::Kind::i32},
    {"eps", offsetof(Args, forward.eps), ScalarSlot::Kind::f32, {}, {1e-5f}},
    {"activation", offsetof(Args, forward.activation), ScalarSlot::Kind::i32, kActivationWords},
    {"concat_u", offsetof(Args, forward.concat_u), ScalarSlot::Kind::i32},
    {"concat_x", offsetof(Args, forward.concat_x), ScalarSlot::Kind::i32},
    {"silu_u", offsetof(Args, forward.silu_u), ScalarSlot::Kind::i32},
    {"num_groups", offsetof(Args, forward.num_groups), ScalarSlot::Kind::i32},
    {"norm", offsetof(Args, forward.norm), ScalarSlot::Kind::i32, norm_mul::kNormWords},
    {"dropout_stream", offsetof(Args, forward.dropout_stream), ScalarSlot::Kind::i32, norm_mul::kStreamWords},
    {"dropout_ratio", offsetof(Args, forward.dropout_ratio), ScalarSlot::Kind::f32},
    {"seed", offsetof(Args, forward.seed), ScalarSlot::Kind::i64},
    {"determinism", offsetof(Args, determinism), ScalarSlot::Kind::i32, kDeterminismWords}};

int64_t sums_of(const Args& args) { return present(args.dweight) + present(args.dbias); }
bool any_gradient(const Args& args) { return present(args.dattn) || present(args.du) || sums_of(args) > 0; }

/// A block has a sum of each column, or of each group.
size_t workspace_bytes(const void* untyped) {
  const Args& args = *static_cast<const Args*>(untyped);
  const hstu_norm_mul_args& forward = args.forward;
  const int64_t groups = std::clamp(forward.num_groups, 0, key::kMostGroups);  // others no call has
  const int64_t dim = std::clamp<int64_t>(forward.attn.shape[1], 0, INT32_MAX);
  const int64_t blocks =
      groups > 0 ? key::kMostBlocks : std::clamp<int64_t>(forward.attn.shape[0], 1, key::kMostBlocks);
  return static_cast<size_t>(blocks * sums_of(args) * key::padded(groups > 0 ? groups : dim)) * sizeof(float);
}
constexpr WorkspaceSlot kWorkspace = {offsetof(Args, workspace), offsetof(Args, workspace_size), workspace_bytes};

/// Those that are there, and what must lie apart.
struct Checked {
  Tensor attn, u, weight, bias, dout, moments, dattn, du, dweight, dbias, out, valid_rows;
};

/// dattn or du.
Tensor like_attn(const char* name, hstu_tensor& t, const Tensor& attn) {
  if (!checks::given(name, t)) return {name, t};
  const Tensor like = checks::required<2>(name, t);
  checks::same_dtype(like, attn);
  checks::extent(like, 0, attn.t.shape[0], "attn.shape[0]");
  checks::extent(like, 1, attn.t.shape[1], "attn.shape[1]");
  checks::no_self_overlap(like);
  return like;
}

Tensor check_dout(Args& args, const Tensor& attn) {
  const Tensor dout = checks::required<2>("dout", args.dout);
  checks::same_dtype(dout, attn);
  norm_mul::check_segments(dout, args.forward, attn);
  return dout;
}

Tensor check_out(Args& args, const Tensor& attn) {
  if (!checks::given("out", args.out)) return {"out", args.out};
  const Tensor out = checks::required<2>("out", args.out);
  checks::same_dtype(out, attn);
  norm_mul::check_segments(out, args.forward, attn);
  checks::no_self_overlap(out);
  return out;
}

Tensor check_moments(Args& args, const Tensor& attn) {
  if (!checks::given("moments", args.moments)) return {"moments", args.moments};
  const Tensor moments = checks::part_moments(args.moments, attn.t.shape[0], "attn.shape[0]");
  const int64_t parts = args.moments.shape[1], groups = std::max(args.forward.num_groups, 1);
  if (parts < 1 || attn.t.shape[1] % parts != 0 || parts % groups != 0)
    fail(HSTU_ERROR_SHAPE_MISMATCH,
         "moments.shape[1] = {}: the parts of a row, which must divide attn.shape[1] = {} and be a multiple of its "
         "groups, {}",
         parts, attn.t.shape[1], groups);
  return moments;
}

Tensor weight_gradient(const char* name, hstu_tensor& t, const Tensor& weight) {
  if (!checks::given(name, t)) return {name, t};
  const Tensor gradient = checks::required<1>(name, t);
  checks::extent(gradient, 0, weight.t.shape[0], "weight.shape[0]");
  if (t.dtype != HSTU_DTYPE_F32) checks::same_dtype(gradient, weight);
  return gradient;
}

void check_groups(const Args& args) {
  if (args.forward.num_groups > key::kMostGroups)
    fail(HSTU_ERROR_UNSUPPORTED, "num_groups = {}: the gradient covers up to {}", args.forward.num_groups,
         key::kMostGroups);
}

Checked check_tensors(Args& args) {
  hstu_norm_mul_args& forward = args.forward;
  const Tensor attn = checks::required<2>("attn", forward.attn);
  checks::floating(attn);
  const Tensor u = norm_mul::check_u(forward, attn);
  norm_mul::check_flags(forward);
  check_groups(args);
  Checked c{attn,
            u,
            {"weight", forward.weight},
            {"bias", forward.bias},
            check_dout(args, attn),
            {"moments", args.moments},
            like_attn("dattn", args.dattn, attn),
            like_attn("du", args.du, attn),
            {"dweight", args.dweight},
            {"dbias", args.dbias},
            check_out(args, attn),
            checks::valid_rows(args.valid_rows)};
  norm_mul::normed_length(forward, attn.t.shape[1]);
  norm_mul::check_weights(forward, attn, c.dattn);
  c.weight.bytes = extent_bytes(forward.weight);
  c.bias.bytes = extent_bytes(forward.bias);
  c.moments.bytes = check_moments(args, attn).bytes;
  c.dweight.bytes = weight_gradient("dweight", args.dweight, c.weight).bytes;
  c.dbias.bytes = weight_gradient("dbias", args.dbias, c.weight).bytes;
  if (present(args.dbias) && forward.norm == HSTU_NORM_RMS)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "dbias is there, but norm = RMS has no bias; leave dbias out");
  if (present(args.dweight) && present(args.dbias)) checks::same_dtype(c.dbias, c.dweight);
  return c;
}

void check_overlaps(const Checked& c) {
  struct InPlace {
    const Tensor &out, &in;
  };
  for (const InPlace& pair : {InPlace{c.dattn, c.attn}, InPlace{c.du, c.u}, InPlace{c.out, c.dout}}) {
    checks::disjoint_or_same(pair.out, pair.in);
    for (const Tensor* in : {&c.attn, &c.u, &c.dout, &c.moments, &c.weight, &c.bias, &c.valid_rows})
      if (in != &pair.in) checks::disjoint(pair.out, *in);
  }
  for (const Tensor* out : {&c.dweight, &c.dbias})
    for (const Tensor* other :
         {&c.attn, &c.u, &c.dout, &c.moments, &c.weight, &c.bias, &c.valid_rows, &c.dattn, &c.du, &c.out})
      checks::disjoint(*out, *other);
  checks::disjoint(c.dattn, c.du);
  checks::disjoint(c.dattn, c.out);
  checks::disjoint(c.du, c.out);
  checks::disjoint(c.dweight, c.dbias);
}

int32_t vector_of(const Args& args) {
  const hstu_norm_mul_args& forward = args.forward;
  checks::Vector vector(forward.attn.dtype);
  // Segments start at multiples of dim, groups at multiples of their length.
  vector.tensor(forward.attn).tensor(forward.u).tensor(args.dout);
  vector.length(norm_mul::normed_length(forward, forward.attn.shape[1]));
  for (const hstu_tensor* t : {&args.dattn, &args.du, &args.out})
    if (present(*t)) vector.tensor(*t);
  if (forward.num_groups == 0) vector.address(forward.weight);
  if (forward.num_groups == 0 && present(forward.bias)) vector.address(forward.bias);
  return vector.elements();
}

}  // namespace

OperatorFacts facts_of(const Args*) { return {key::kFields, kTensors, kScalars, &kWorkspace, &kScalars[0]}; }

Problem prepare(Args& args) {
  checks::struct_size(args.struct_size, sizeof args);
  checks::embedded_size("forward.struct_size", args.forward.struct_size, sizeof args.forward);
  const Checked c = check_tensors(args);
  check_overlaps(c);
  args.forward.eps = checks::eps(args.forward.eps);
  checks::flag("accumulate", args.accumulate);
  checks::flag("determinism", static_cast<int32_t>(args.determinism));
  checks::workspace(args.workspace, args.workspace_size, workspace_bytes(&args),
                    "hstu_norm_mul_backward_workspace_size",
                    {&c.attn, &c.u, &c.weight, &c.bias, &c.dout, &c.moments, &c.dattn, &c.du, &c.dweight, &c.dbias,
                     &c.out, &c.valid_rows});

  const hstu_norm_mul_args& forward = args.forward;
  Problem problem{op_of<Args>(), {}};
  problem[key::kDtype] = forward.attn.dtype;
  problem[key::kWeightDtype] = forward.weight.dtype;
  problem[key::kGradientDtype] = present(args.dweight) ? args.dweight.dtype : args.dbias.dtype;
  problem[key::kDim] = checks::field(c.attn, 1);
  problem[key::kGroups] = forward.num_groups;
  problem[key::kActivation] = forward.activation;
  problem[key::kConcatU] = forward.concat_u;
  problem[key::kConcatX] = forward.concat_x;
  problem[key::kSiluU] = forward.silu_u;
  problem[key::kNorm] = forward.norm;
  problem[key::kDropout] = forward.dropout_ratio > 0 ? 1 + forward.dropout_stream : 0;
  problem[key::kParts] = present(args.moments) ? checks::field(c.moments, 1) : 0;
  problem[key::kHasDattn] = present(args.dattn);
  problem[key::kHasDu] = present(args.du);
  problem[key::kHasDweight] = present(args.dweight);
  problem[key::kHasDbias] = present(args.dbias);
  problem[key::kHasOut] = present(args.out);
  problem[key::kVector] = vector_of(args);
  problem[key::kRows] = bucket(forward.attn.shape[0]);
  return problem;
}

// Statistics 4, xhat 2, n 2, its product and the one with dout 2, du 2, g and its sums 4, dattn 4, products and sums
// for weight and bias 3.
Cost cost_of(const Args& args) {
  const hstu_norm_mul_args& forward = args.forward;
  const double elements = static_cast<double>(forward.attn.shape[0]) * static_cast<double>(forward.attn.shape[1]);
  const bool dattn = present(args.dattn), du = present(args.du), gradient = any_gradient(args), out = present(args.out);
  const int flops = (gradient || out) * ((present(args.moments) ? 0 : 4) + 2 + 2 + 1) + gradient + 2 * du + 8 * dattn +
                    2 * present(args.dweight) + present(args.dbias);
  const int rows_moved = 2 * (gradient || out) + gradient + (du && forward.concat_u) + (dattn && forward.concat_x) +
                         dattn + du + out * norm_mul::segments_of(forward);
  const auto weights = static_cast<double>(forward.weight.shape[0]);
  const int gradient_bytes =
      size_of(static_cast<hstu_dtype>(present(args.dweight) ? args.dweight.dtype : args.dbias.dtype));
  return {.flops = elements * flops,
          .bytes = elements * rows_moved * size_of(forward.attn.dtype) +
                   weights * ((present(forward.bias) ? 2 : 1) * size_of(forward.weight.dtype) +
                              static_cast<double>(sums_of(args) * (1 + args.accumulate) * gradient_bytes)) +
                   bytes_of_all({&args.moments})};
}

void make_edge_case(Args& args, Integers& integers) {
  const int64_t rows = edge_case::ragged(args.forward.attn.shape[0]);
  edge_case::shorten_rows(
      rows, {&args.forward.attn, &args.forward.u, &args.dout, &args.moments, &args.dattn, &args.du, &args.out});
  for (std::vector<int64_t>& valid_rows : integers)  // the one tensor of integers
    for (int64_t& valid : valid_rows) valid = std::min(valid, rows - rows / 3);
}

namespace reference {
namespace {

/// Mean, 0 of RMS norm, and 1 / sqrt.
struct Statistics {
  double mean, rstd;
};

/// Of `count` values, elements first to first + count of their row, from moments or from themselves.
Statistics statistics_of(const Args& args, int64_t row, int64_t first, const double* x, int64_t count) {
  const bool centred = args.forward.norm != HSTU_NORM_RMS;
  const auto n = static_cast<double>(count);
  double mean = 0, squares = 0;
  if (present(args.moments)) {
    const int64_t parts = args.moments.shape[1], part = args.forward.attn.shape[1] / parts;
    Row pairs(static_cast<size_t>(2 * (count / part)));
    load(args.moments, row * args.moments.stride[0] + 2 * (first / part), static_cast<int64_t>(pairs.size()),
         pairs.data());
    for (size_t i = 0; i < pairs.size(); i += 2) mean += pairs[i] * static_cast<double>(part) / n;
    for (size_t i = 0; i < pairs.size(); i += 2)
      squares += pairs[i + 1] + static_cast<double>(part) * (pairs[i] - mean) * (pairs[i] - mean);
    squares = std::max(squares, 0.0);  // random numbers, as tuning has them, may be negative
    if (!centred) squares += n * mean * mean;
  } else {
    if (centred)
      for (int64_t i = 0; i < count; ++i) mean += x[i] / n;
    for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  }
  return {centred ? mean : 0, 1 / std::sqrt(squares / n + args.forward.eps)};
}

/// A function and its slope.
struct ValueAndSlope {
  double value, slope;
};
ValueAndSlope activated(hstu_activation activation, double u) {
  const double s = sigmoid(u);
  if (activation == HSTU_ACTIVATION_SILU) return {silu(u), s * (1 + u * (1 - s))};
  if (activation == HSTU_ACTIVATION_SIGMOID) return {s, s * (1 - s)};
  return {u, 1};
}

/// Weight and bias of each column.
struct Weights {
  Row weight, bias;

  explicit Weights(const hstu_norm_mul_args& args) {
    const int64_t dim = args.attn.shape[1], count = args.weight.shape[0];
    const Row w = load_vector(args.weight, count, 1), b = load_vector(args.bias, count, 0);
    for (int64_t i = 0; i < dim; ++i) {
      weight.push_back(w[static_cast<size_t>(i / (dim / count))]);
      bias.push_back(b[static_cast<size_t>(i / (dim / count))]);
    }
  }
};

/// One row of the call: xhat, what dout says of the value that the norm gave, and all that results are made of.
struct GradientRow {
  Row xhat, of_norm, direct, du, out;
  std::vector<double> rstd;  ///< of each group

  GradientRow(const Args& args, const Weights& weights, int64_t row) {
    const hstu_norm_mul_args& forward = args.forward;
    const Row attn = load_row(forward.attn, row), u = load_row(forward.u, row), dout = load_row(args.dout, row);
    const auto dim = static_cast<int64_t>(attn.size()), length = norm_mul::normed_length(forward, dim);
    const int64_t segments = norm_mul::segments_of(forward);
    const auto segment = [&](int64_t index, bool there) {
      Row values(attn.size());
      if (!there) return values;
      std::copy_n(dout.begin() + index * dim, dim, values.begin());
      drop(values, forward, row, index, segments);
      return values;
    };
    const Row of_copy = segment(0, forward.concat_u), of_product = segment(segments - 1, true);
    direct = segment(forward.concat_u, forward.concat_x);
    xhat = attn;
    for (int64_t first = 0; first < dim; first += length) {
      const Statistics s = statistics_of(args, row, first, attn.data() + first, length);
      rstd.push_back(s.rstd);
      for (int64_t i = first; i < first + length; ++i)
        xhat[static_cast<size_t>(i)] = (xhat[static_cast<size_t>(i)] - s.mean) * s.rstd;
    }
    const hstu_activation of_u = forward.silu_u ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE;
    Row copy(attn.size()), product(attn.size());
    of_norm = du = product;
    for (size_t i = 0; i < attn.size(); ++i) {
      const ValueAndSlope copied = activated(of_u, u[i]),
                          factor = forward.num_groups > 0 ? copied : activated(forward.activation, u[i]);
      const double norm = xhat[i] * weights.weight[i] + weights.bias[i], s = sigmoid(norm);
      const bool swish = forward.norm == HSTU_NORM_SWISH;
      const double t = swish ? attn[i] * s : norm, of_t = of_product[i] * factor.value;
      of_norm[i] = swish ? of_t * attn[i] * s * (1 - s) : of_t;
      if (swish) direct[i] += of_t * s;
      du[i] = of_product[i] * t * factor.slope + of_copy[i] * copied.slope;
      copy[i] = copied.value;
      product[i] = factor.value * t;
    }
    if (!present(args.out)) return;
    int64_t index = 0;
    const auto append = [&](Row values) {
      drop(values, forward, row, index++, segments);
      out.insert(out.end(), values.begin(), values.end());
    };
    if (forward.concat_u) append(copy);
    if (forward.concat_x) append(attn);
    append(product);
  }
  Row dattn(const Args& args, const Row& weight) const {
    const auto dim = static_cast<int64_t>(xhat.size()), length = norm_mul::normed_length(args.forward, dim);
    const bool centred = args.forward.norm != HSTU_NORM_RMS;
    Row dx(xhat.size());
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = of_norm[i] * weight[i];
    for (int64_t first = 0; first < dim; first += length) {
      double mean_g = 0, mean_gx = 0;
      for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(first + length); ++i) {
        if (centred) mean_g += dx[i] / static_cast<double>(length);
        mean_gx += dx[i] * xhat[i] / static_cast<double>(length);
      }
      for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(first + length); ++i)
        dx[i] = rstd[static_cast<size_t>(first / length)] * (dx[i] - mean_g - xhat[i] * mean_gx) + direct[i];
    }
    return dx;
  }
};

int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.forward.attn.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

constexpr int64_t kParts = 64;  // of the rows, whose sums are joined in order

/// Sums over the valid rows, and over columns of one weight, of what term() makes of an element's gradient of the norm
/// and xhat.
template <class Term>
Row column_sums(const Args& args, const Weights& weights, const Term& term) {
  const auto dim = static_cast<size_t>(args.forward.attn.shape[1]);
  const auto count = static_cast<size_t>(args.forward.weight.shape[0]);
  const int64_t rows = dim > 0 ? valid_rows_of(args) : 0;
  std::vector<Row> parts(kParts, Row(count));
  parallel_for(kParts, 60.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t part) {
    Row& sums = parts[static_cast<size_t>(part)];
    for (int64_t r = part * rows / kParts; r < (part + 1) * rows / kParts; ++r) {
      const GradientRow row(args, weights, r);
      for (size_t i = 0; i < dim; ++i) sums[i / (dim / count)] += term(row.of_norm[i], row.xhat[i]);
    }
  });
  for (int64_t part = 1; part < kParts; ++part)
    for (size_t i = 0; i < count; ++i) parts[0][i] += parts[static_cast<size_t>(part)][i];
  return std::move(parts[0]);
}

void write_sums(const hstu_tensor& to, bool accumulate, const Output& out, Row sums) {
  const auto count = static_cast<int64_t>(sums.size());
  if (accumulate) {
    const Row before = load_vector(to, count, 0);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += before[i];
  }
  out.write(0, 0, count, sums.data());
}

double weight_term(double of_norm, double xhat) { return of_norm * xhat; }
double bias_term(double of_norm, double) { return of_norm; }

void write_rows(const Args& args, const Weights& weights, double* const* exact) {
  const int64_t dim = args.forward.attn.shape[1], rows = dim > 0 ? args.forward.attn.shape[0] : 0;
  const Output dattn(args.dattn, exact, kDattn), du(args.du, exact, kDu), out(args.out, exact, kOut);
  parallel_for(rows, 60.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t r) {
    const GradientRow row(args, weights, r);
    if (present(args.dattn)) dattn.write(r, 0, dim, row.dattn(args, weights.weight).data());
    if (present(args.du)) du.write(r, 0, dim, row.du.data());
    if (present(args.out)) out.write(r, 0, args.out.shape[1], row.out.data());
  });
}

}  // namespace

SizesOfTerms sizes_of_terms(const Args& args) {
  const Weights weights(args.forward);
  const auto roots = [&](double (*term)(double, double)) {
    Row sums = column_sums(args, weights, [&](double of_norm, double xhat) {
      const double t = term(of_norm, xhat);
      return t * t;
    });
    for (double& sum : sums) sum = std::sqrt(sum);
    return sums;
  };
  return {roots(weight_term), roots(bias_term)};
}

// Sums first: dattn may be in the place of attn, and out in that of dout.
void run(const Args& args, double* const* exact) {
  const Weights weights(args.forward);
  if (present(args.dweight))
    write_sums(args.dweight, args.accumulate, Output(args.dweight, exact, kDweight),
               column_sums(args, weights, weight_term));
  if (present(args.dbias))
    write_sums(args.dbias, args.accumulate, Output(args.dbias, exact, kDbias), column_sums(args, weights, bias_term));
  write_rows(args, weights, exact);
}

}  // namespace reference
}  // namespace hstujit
