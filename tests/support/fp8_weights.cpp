#include "support/fp8_weights.hpp"

#include "operators/attention/attention_fp8.hpp"
#include "operators/attention/mask.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/reference.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_attention_fp8_args;

constexpr double kLargest = 448, kLeastNormal = 0x1p-6;
const double kSixDeviations = 6 / std::sqrt(3.0);  // of even errors, over the greatest of them

/// By how much rounding to e4m3 changes x at most.
double half_step(double x) {
  const double size = std::fabs(x);
  if (size > kLargest) return size - kLargest;
  return size < kLeastNormal ? 0x1p-10 : std::ldexp(1.0, std::ilogb(size) - 4);
}

/// The power of two that weights take before they are rounded, where scores are 2 |half_alpha| times products.
double gain_of(double half_alpha, int64_t dim) {
  const double greatest = 2 * kLargest * kLargest * static_cast<double>(dim) * std::fabs(half_alpha);
  const double gain = 8 * kLargest / greatest;
  return gain >= 0x1p20 ? 0x1p20 : gain > 1 ? std::ldexp(1.0, std::ilogb(gain)) : 1;
}

/// By how much the weight of x is wrong before it is rounded. x is a sum of products, `size` the root of their squares,
/// greatest the greatest of them. The tensor cores cut each off behind 14 bits; or they have q and k rounded to 16
/// bits, of which each is wrong by up to `half_ulp`. tanh(x / 2) has 11 bits.
double error_of_weight(double x, double size, double greatest, int64_t terms, double half_ulp) {
  const double cut_off = std::sqrt(static_cast<double>(terms)) * 0x1p-13 * greatest;
  const double sum = kSixDeviations * std::max(cut_off, half_ulp * size);
  constexpr double kSteepest = 1.1;  // slope of silu
  return kSteepest * sum + std::fabs(x / 2 * std::tanh(x / 2)) * 0x1p-11;
}

/// One head of one sequence. Keys are transposed, and numbers have 32 bits, so that the inner loops are vectors'.
class Head {
 public:
  Head(const Args& args, int64_t b, int64_t head)
      : args_(args),
        attention_(attention_fp8::as_attention(args)),
        first_(integer_at(args.seq_offsets, b)),
        n_(integer_at(args.seq_offsets, b + 1) - first_),
        head_(head),
        kv_head_(head * args.k.shape[1] / args.q.shape[1]),
        sequence_(b),
        mask_(reference::sequence_mask(attention_.mask, b, first_, head)),
        dim_qk_(args.q.shape[2]),
        dim_v_(args.v.shape[2]),
        keys_(n_ * dim_qk_),
        values_(n_ * dim_v_),
        products_(n_),
        squares_(n_),
        greatest_(n_) {
    for (int64_t j = 0; j < n_; ++j) {
      const std::vector<double> key = load_head(args.k, j, kv_head_), value = load_head(args.v, j, kv_head_);
      for (int64_t d = 0; d < dim_qk_; ++d) keys_[d * n_ + j] = static_cast<float>(key[static_cast<size_t>(d)]);
      for (int64_t d = 0; d < dim_v_; ++d)
        values_[j * dim_v_ + d] = static_cast<float>(std::fabs(value[static_cast<size_t>(d)]));
    }
  }

  void run(Exact& out) {
    for (int64_t i = 0; i < n_; ++i) {
      if (i == 0 || block_of(i) != block_of(i - 1)) survey(i);
      add_row(i, &out[static_cast<size_t>(((first_ + i) * args_.q.shape[1] + head_) * dim_v_)]);
    }
  }

 private:
  /// std::vector with an index of 64 bits.
  struct Floats : std::vector<float> {
    explicit Floats(int64_t count) : std::vector<float>(static_cast<size_t>(count)) {}
    float& operator[](int64_t i) { return *(data() + i); }
  };
  struct Range {
    int64_t begin, end;
  };

  bool in_blocks() const { return args_.scaling == HSTU_FP8_ATTENTION_BLOCK; }
  int64_t block_of(int64_t i) const { return in_blocks() ? (first_ + i) / fp8::kSpan : 0; }
  double scale(const hstu_tensor& descale, int64_t i, int64_t head) const {
    const int64_t unit = in_blocks() ? block_of(i) : sequence_;
    return static_cast<double>(
        static_cast<const float*>(descale.data)[unit * attention_fp8::unit_stride(descale, args_.scaling) +
                                                head * attention_fp8::head_stride(descale, args_.scaling)]);
  }
  std::vector<double> load_head(const hstu_tensor& t, int64_t i, int64_t head) const {
    std::vector<double> out(static_cast<size_t>(t.shape[2]));
    load(t, (first_ + i) * t.stride[0] + head * t.stride[1], t.shape[2], out.data());
    return out;
  }

  /// From the first to the last key that a row sees.
  Range seen_by(int64_t i) const {
    Range range{0, n_};
    while (range.begin < n_ && !mask_.allows(i, range.begin, n_)) ++range.begin;
    while (range.end > range.begin && !mask_.allows(i, range.end - 1, n_)) --range.end;
    return range;
  }

  /// The greatest scales among the keys from the first to the last that rows of the block see, from row `i` on.
  void survey(int64_t i) {
    Range all{n_, 0};
    for (int64_t row = i; row < n_ && block_of(row) == block_of(i); ++row) {
      const Range range = seen_by(row);
      all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
    }
    greatest_v_ = greatest_product_ = 0;
    for (int64_t j = all.begin; j < all.end; ++j) {
      const double v = scale(args_.v_descale, j, kv_head_);
      greatest_v_ = std::max(greatest_v_, v);
      greatest_product_ = std::max(greatest_product_, v * scale(args_.k_descale, j, kv_head_));
    }
  }

  /// Of a row's query with the keys: products, the squares of their terms, the greatest of these.
  void multiply(const std::vector<double>& query, const Range& range) {
    for (Floats* const sums : {&products_, &squares_, &greatest_})
      std::fill(sums->begin() + range.begin, sums->begin() + range.end, 0.0f);
    for (int64_t d = 0; d < dim_qk_; ++d) {
      const float q = static_cast<float>(query[static_cast<size_t>(d)]), *keys = &keys_[d * n_];
      float *products = products_.data(), *squares = squares_.data(), *greatest = greatest_.data();
      for (int64_t j = range.begin; j < range.end; ++j) {
        const float term = q * keys[j], square = term * term;
        products[j] += term;
        squares[j] += square;
        greatest[j] = greatest[j] < square ? square : greatest[j];
      }
    }
  }

  void add_row(int64_t i, double* out) {
    const Range range = seen_by(i);
    multiply(load_head(args_.q, i, head_), range);
    const double alpha = static_cast<double>(args_.alpha) * scale(args_.q_descale, i, head_);
    const double gain = gain_of(alpha / 2 * (greatest_product_ / greatest_v_), dim_qk_);
    Floats sums(dim_v_), squares(dim_v_);
    for (int64_t j = range.begin; j < range.end; ++j) {
      if (!mask_.allows(i, j, n_)) continue;
      const double factor = alpha * scale(args_.k_descale, j, kv_head_);
      const auto of_terms = [&](float square) { return std::fabs(factor) * std::sqrt(static_cast<double>(square)); };
      const double x = factor * static_cast<double>(products_[j]);
      const double before =
          error_of_weight(x, of_terms(squares_[j]), of_terms(greatest_[j]), dim_qk_, ulp(args_.out.dtype) / 2);
      const double units = gain * scale(args_.v_descale, j, kv_head_) / greatest_v_;  // of what is rounded
      const auto step = static_cast<float>(half_step(reference::silu(x) * units) + before * units);
      const float* values = &values_[j * dim_v_];
      for (int64_t d = 0; d < dim_v_; ++d) {
        const float error = step * values[d];
        sums[d] += error;
        squares[d] += error * error;
      }
    }
    // All errors one way, or six deviations of errors that know nothing of each other.
    const double unit = greatest_v_ / gain * std::fabs(scale_of_row(i));
    for (int64_t d = 0; d < dim_v_; ++d)
      out[d] =
          unit * std::min(static_cast<double>(sums[d]), kSixDeviations * std::sqrt(static_cast<double>(squares[d])));
  }
  double scale_of_row(int64_t i) const {
    if (!present(args_.attn_scale)) return 1 / static_cast<double>(args_.scaling_seqlen);
    const auto* const scales = static_cast<const float*>(args_.attn_scale.data);
    return static_cast<double>(scales[args_.attn_scale.shape[0] == 1 ? 0 : first_ + i]);
  }

  const Args& args_;
  const hstu_attention_args attention_;
  const int64_t first_, n_, head_, kv_head_, sequence_;
  const reference::SequenceMask mask_;
  const int64_t dim_qk_, dim_v_;
  Floats keys_;    ///< [dim_qk, n]
  Floats values_;  ///< [n, dim_v], magnitudes
  Floats products_, squares_, greatest_;
  double greatest_v_ = 0, greatest_product_ = 0;
};

}  // namespace

Exact error_of_fp8_weights(Args args) {
  prepare(args);
  const int64_t heads = args.q.shape[1], batch = args.seq_offsets.shape[0] - 1;
  Exact out(static_cast<size_t>(args.q.shape[0] * heads * args.v.shape[2]));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t head = 0; head < heads; ++head) Head(args, b, head).run(out);
  return out;
}

}  // namespace hstujit::test
