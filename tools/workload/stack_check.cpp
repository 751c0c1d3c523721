#include "workload/stack_check.hpp"

#include "support/element.hpp"
#include "workload/call_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace hstujit {
namespace {

using Values = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }

/// A matrix of doubles; rows x columns, row-major.
struct Matrix {
  int64_t rows, columns;
  Values values;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  Matrix(int64_t r, int64_t c, Values v) : rows(r), columns(c), values(std::move(v)) {}
  double* row(int64_t r) { return values.data() + r * columns; }
  const double* row(int64_t r) const { return values.data() + r * columns; }
};

Matrix layer_norm(const Matrix& x, const Values& weight, const Values& bias, double eps) {
  Matrix y(x.rows, x.columns);
  for (int64_t r = 0; r < x.rows; ++r) {
    const double* in = x.row(r);
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < x.columns; ++c) mean += in[c] / static_cast<double>(x.columns);
    for (int64_t c = 0; c < x.columns; ++c)
      variance += (in[c] - mean) * (in[c] - mean) / static_cast<double>(x.columns);
    const double scale = 1 / std::sqrt(variance + eps);
    for (int64_t c = 0; c < x.columns; ++c) {
      const auto i = static_cast<size_t>(c);
      y.row(r)[c] = (in[c] - mean) * scale * weight[i] + bias[i];
    }
  }
  return y;
}

Matrix product(const Matrix& x, const Matrix& w) {
  Matrix z(x.rows, w.columns);
  for (int64_t r = 0; r < x.rows; ++r)
    for (int64_t k = 0; k < x.columns; ++k)
      for (int64_t c = 0; c < w.columns; ++c) z.row(r)[c] += x.row(r)[k] * w.row(k)[c];
  return z;
}

/// Rows as they are quantised for a product: one scale each, f32 arithmetic as hstu_quantize_fp8 has it.
Matrix quantised(Matrix x) {
  constexpr float kLargest = 448;
  for (int64_t r = 0; r < x.rows; ++r) {
    float amax = 1e-12f;
    for (int64_t c = 0; c < x.columns; ++c) amax = std::max(amax, static_cast<float>(std::fabs(x.row(r)[c])));
    const float multiplier = kLargest / amax, descale = amax / kLargest;
    for (int64_t c = 0; c < x.columns; ++c) {
      double& e = x.row(r)[c];
      const auto scaled = static_cast<double>(static_cast<float>(e) * multiplier);
      e = E4m3::widen(E4m3::round(scaled)) * static_cast<double>(descale);
    }
  }
  return x;
}

/// Rows [u | attn | g] as hstu_gated_fp8_gemm quantises them: a power of two by what a row may reach, `gain` times u
/// or, of attn, so many deviations from its mean.
Matrix quantised_by_bound(Matrix x, double gain, double deviations, double eps) {
  const int64_t dim = x.columns / 3, first = std::min<int64_t>(dim, 128);
  for (int64_t r = 0; r < x.rows; ++r) {
    const double *u = x.row(r), *attn = u + dim;
    double head = 0, amax = 0, mean = 0, variance = eps;
    for (int64_t c = 0; c < dim; ++c) {
      amax = std::max(amax, std::fabs(u[c]));
      if (c < first) head = amax;
      mean += attn[c] / static_cast<double>(dim);
    }
    for (int64_t c = 0; c < dim; ++c) variance += (attn[c] - mean) * (attn[c] - mean) / static_cast<double>(dim);
    const double bound = std::max(std::max(4 * head, amax) * gain, std::fabs(mean) + deviations * std::sqrt(variance));
    const double multiplier = std::ldexp(1.0, 7 - std::ilogb(bound));
    for (int64_t c = 0; c < x.columns; ++c)
      x.row(r)[c] = E4m3::widen(E4m3::round(x.row(r)[c] * multiplier)) / multiplier;
  }
  return x;
}

/// Rounded as an operator's results are.
void round(Matrix& x, hstu_dtype dtype) {
  for (double& e : x.values)
    e = dtype == HSTU_DTYPE_BF16  ? Bf16::widen(Bf16::round(e))
        : dtype == HSTU_DTYPE_F16 ? F16::widen(F16::round(e))
                                  : static_cast<double>(static_cast<float>(e));
}

/// The causal mask of hstu_attention, in closed form.
struct Mask {
  int64_t contextual, window, full, length, targets;

  bool allowed(int64_t i, int64_t j) const {
    const int64_t history = length - targets;
    if (i == j) return true;
    if (length < contextual + targets || j >= history) return false;
    if (i < contextual) return true;
    if (j >= i) return false;
    if (window == 0 || (full > 0 && i >= history - full)) return true;
    return std::min(i, history) - (contextual > 0 ? std::max(j, contextual - 1) : j) <= window;
  }
};

struct Layer {
  const Workload& workload;
  const Stack& stack;
  const Batch& batch;
  bool quantises = false;  ///< what projections in FP8 read, as they do
  const StackSpec& spec = *workload.stack;
  std::string prefix;

  bool fp8() const { return spec.projections != HSTU_DTYPE_NONE; }
  Values weights(const char* name) const { return stack.read(prefix + name); }

  /// [k, n]. In FP8 it is stored transposed, beside what became of it and the scales of its rows.
  Matrix weight(const std::string& name, int64_t k, int64_t n) const {
    Matrix w(k, n, weights((name + (quantises ? "_fp8" : "")).c_str()));
    if (!fp8() && !spec.weights_transposed) return w;
    const Values stored = std::move(w.values);
    const Values descale = quantises ? weights((name + "_descale").c_str()) : Values(static_cast<size_t>(n), 1.0);
    w.values.resize(stored.size());
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < n; ++j)
        w.row(i)[j] = stored[static_cast<size_t>(j * k + i)] * descale[static_cast<size_t>(j)];
    return w;
  }

  Matrix projected(const Matrix& x, const char* name, int64_t columns) const {
    return product(quantises ? quantised(x) : x, weight(name, x.columns, columns));
  }

  /// Where operators round what will be quantised, so does this: what lies half a step of theirs away may be quantised
  /// to another value, a whole step of E4M3's away.
  void round_like_operators(Matrix& x) const {
    if (quantises) round(x, workload.dtype);
  }

  Matrix run(const Matrix& x) const {
    const int64_t values = spec.num_heads * spec.hidden_dim, queries = spec.num_heads * spec.attn_dim;
    const Matrix normed = layer_norm(x, weights("norm_weight"), weights("norm_bias"), eps());
    Matrix uvqk = projected(normed, "uvqk_weight", 2 * (values + queries));
    const Values bias = weights("uvqk_bias");
    for (int64_t r = 0; r < uvqk.rows; ++r)
      for (int64_t c = 0; c < uvqk.columns; ++c) {
        double& e = uvqk.row(r)[c];
        e += bias[static_cast<size_t>(c)];
        if (c < values) e = silu(e);
      }
    round_like_operators(uvqk);
    Matrix attn = attention(uvqk);
    round_like_operators(attn);
    Matrix out = close(gate(uvqk, attn), x.columns);
    for (size_t i = 0; i < out.values.size(); ++i) out.values[i] += x.values[i];
    round_like_operators(out);
    return out;
  }

  Matrix close(const Matrix& gated, int64_t columns) const {
    if (!quantises || !stack.fused().output) return projected(gated, "output_weight", columns);
    const int64_t dim = gated.columns / 3;
    const double deviations = dim <= 256 ? 16 : dim <= 576 ? 24 : 32;
    double weight = 0, bias = 0;
    for (const double w : weights("output_norm_weight")) weight = std::max(weight, std::fabs(w));
    for (const double b : weights("output_norm_bias")) bias = std::max(bias, std::fabs(b));
    return product(quantised_by_bound(gated, std::max(1.0, weight * deviations + bias), deviations, eps()),
                   this->weight("output_weight", gated.columns, columns));
  }

  double eps() const { return spec.eps == 0 ? 1e-6 : static_cast<double>(spec.eps); }

  Matrix attention(const Matrix& uvqk) const {
    Matrix out(uvqk.rows, spec.num_heads * spec.hidden_dim);
    for (size_t b = 0; b + 1 < batch.offsets.size(); ++b)
      for (int64_t head = 0; head < spec.num_heads; ++head) attend(uvqk, b, head, out);
    return out;
  }

  void attend(const Matrix& uvqk, size_t b, int64_t head, Matrix& out) const {
    const int64_t dq = spec.attn_dim, dv = spec.hidden_dim, values = spec.num_heads * dv;
    const int64_t v0 = values + head * dv, q0 = 2 * values + head * dq, k0 = q0 + spec.num_heads * dq;
    const AttentionOptions& options = spec.attention;
    const int64_t begin = batch.offsets[b], length = batch.offsets[b + 1] - begin;
    const Mask mask{options.contextual_seq_len, options.max_attn_len, options.min_full_attn_seq_len, length,
                    batch.targets.empty() ? 0 : batch.targets[b]};
    const double alpha =
        options.alpha == 0 ? 1 / std::sqrt(static_cast<double>(dq)) : static_cast<double>(options.alpha);
    for (int64_t i = 0; i < length; ++i)
      for (int64_t j = 0; j < length; ++j) {
        if (options.mask == HSTU_MASK_CAUSAL && !mask.allowed(i, j)) continue;
        const double *q = uvqk.row(begin + i) + q0, *k = uvqk.row(begin + j) + k0, *v = uvqk.row(begin + j) + v0;
        double score = 0;
        for (int64_t d = 0; d < dq; ++d) score += q[d] * k[d];
        const double p = silu(alpha * score) / divisor();
        for (int64_t d = 0; d < dv; ++d) out.row(begin + i)[head * dv + d] += p * v[d];
      }
  }

  double divisor() const {
    const AttentionOptions& options = spec.attention;
    const int64_t longest = options.max_seq_len > 0 ? options.max_seq_len : batch.longest;
    return static_cast<double>(options.scaling_seqlen > 0 ? options.scaling_seqlen : longest);
  }

  Matrix gate(const Matrix& uvqk, const Matrix& attn) const {
    const int64_t dim = attn.columns, first = spec.concat_ux ? 2 * dim : 0;
    const Matrix normed = layer_norm(attn, weights("output_norm_weight"), weights("output_norm_bias"), eps());
    Matrix out(attn.rows, first + dim);
    for (int64_t r = 0; r < attn.rows; ++r)
      for (int64_t c = 0; c < dim; ++c) {
        const double u = uvqk.row(r)[c];
        if (spec.concat_ux) {
          out.row(r)[c] = u;
          out.row(r)[dim + c] = attn.row(r)[c];
        }
        out.row(r)[first + c] = u * normed.row(r)[c];
      }
    return out;
  }
};

/// Every operator rounds its output once; the errors of a layer's five roundings add up, and so do layers.
double tolerance_of(const Workload& workload) {
  const double one = workload.dtype == HSTU_DTYPE_BF16 ? 1e-2 : workload.dtype == HSTU_DTYPE_F16 ? 2e-3 : 2e-6;
  return one * std::sqrt(static_cast<double>(workload.stack->layers));
}

/// Of an element, over the largest of its row: sums over rounded terms, of each layer more; quantised, a value that
/// goes to its neighbour, a sixteenth away, is a term of some.
double element_tolerance_of(const Workload& workload) {
  if (workload.stack->projections != HSTU_DTYPE_NONE) return 0.15;
  const double one = workload.dtype == HSTU_DTYPE_BF16  ? 10 * 0x1p-7
                     : workload.dtype == HSTU_DTYPE_F16 ? 10 * 0x1p-10
                                                        : 1e-3;
  return one * std::sqrt(static_cast<double>(workload.stack->layers));
}

/// Of one layer that quantises: a small difference d takes some values to a neighbour, an error like the square root
/// of d times a step of E4M3's. Attention that is wrong by 2e-3 gives 7e-3.
double quantised_tolerance_of(const Workload& workload) {
  return workload.dtype == HSTU_DTYPE_BF16 ? 1.5e-2 : workload.dtype == HSTU_DTYPE_F16 ? 5e-3 : 1e-3;
}

/// E4M3 rounds by 2.6 % on average, and a product has two operands; a residual takes its part of it.
double quantisation_tolerance_of(const Workload& workload) {
  return 0.06 * std::sqrt(static_cast<double>(workload.stack->layers));
}

/// The last layer, whose input is that of the stack or the result of the layer in front, which is still there.
Values expected_last_layer(const Workload& workload, const Stack& stack) {
  const Batch batch = batch_of(*workload.sequences);
  const int64_t last = workload.stack->layers - 1;
  const Matrix x(batch.total, workload.stack->embedding_dim, stack.read(layer_input(last)));
  const Layer layer{.workload = workload,
                    .stack = stack,
                    .batch = batch,
                    .quantises = true,
                    .prefix = fmt::format("layers.{}.", last)};
  return layer.run(x).values;
}

}  // namespace

double relative_error(std::span<const double> got, std::span<const double> expected) {
  double error = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return size > 0 ? std::sqrt(error / size) : std::sqrt(error);
}

double element_error(std::span<const double> got, std::span<const double> expected, int64_t columns) {
  const auto row_length = static_cast<size_t>(columns);
  double worst = 0;
  for (size_t row = 0; row < expected.size(); row += row_length) {
    double largest = 0, error = 0;
    for (size_t i = row; i < row + row_length; ++i) {
      largest = std::max(largest, std::fabs(expected[i]));
      const double off = std::fabs(got[i] - expected[i]);
      if (!(off <= error)) error = off;
      if (std::isnan(error)) return error;
    }
    worst = std::max(worst, largest > 0 ? error / largest : error);
  }
  return worst;
}

std::vector<double> expected_result(const Workload& workload, const Stack& stack) {
  const Batch batch = batch_of(*workload.sequences);
  Matrix x(batch.total, workload.stack->embedding_dim, stack.read("x"));
  for (int64_t i = 0; i < workload.stack->layers; ++i)
    x = Layer{.workload = workload, .stack = stack, .batch = batch, .prefix = fmt::format("layers.{}.", i)}.run(x);
  return x.values;
}

StackCheck check_stack(const Workload& workload, const Stack& stack) {
  const Values got = stack.result(), exact = expected_result(workload, stack);
  const int64_t columns = workload.stack->embedding_dim;
  const double error = relative_error(got, exact);
  if (workload.stack->projections == HSTU_DTYPE_NONE)
    return {error,
            tolerance_of(workload),
            std::nullopt,
            0,
            element_error(got, exact, columns),
            element_tolerance_of(workload)};
  const Values last = expected_last_layer(workload, stack);
  return {relative_error(got, last),           quantised_tolerance_of(workload),  error,
          quantisation_tolerance_of(workload), element_error(got, last, columns), element_tolerance_of(workload)};
}

Workload small_version(const Workload& workload) {
  Workload small = workload;
  small.operators.clear();
  if (small.stack->projections == HSTU_DTYPE_NONE) small.stack->layers = std::min<int64_t>(small.stack->layers, 2);
  Sequences& sequences = *small.sequences;
  sequences.batch = 3;
  sequences.history = {Lengths::Kind::given, 0, 0, std::nullopt, {33, 0, 20}};
  if (sequences.targets) sequences.targets = Lengths{Lengths::Kind::given, 0, 0, std::nullopt, {7, 12, 5}};
  small.stack->attention.max_seq_len = 0;
  return small;
}

}  // namespace hstujit
