#include "support/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hstujit::test {
namespace {

testing::AssertionResult failure(const std::string& text) { return testing::AssertionFailure() << text; }

/// Where element `index` of a row-major view lies, for messages: "[3, 1, 7]".
std::string position(const hstu_tensor& t, size_t index) {
  std::string text;
  auto rest = static_cast<int64_t>(index);
  for (int d = t.rank - 1; d >= 0; --d) {
    text = fmt::format("{}{}{}", rest % t.shape[d], text.empty() ? "" : ", ", text);
    rest /= t.shape[d];
  }
  return "[" + text + "]";
}

/// The largest finite magnitude among the elements of each row (of all heads together).
std::vector<double> row_sizes(const Exact& exact, size_t row_length) {
  std::vector<double> sizes(exact.size() / row_length);
  for (size_t i = 0; i < exact.size(); ++i)
    if (std::isfinite(exact[i])) sizes[i / row_length] = std::max(sizes[i / row_length], std::fabs(exact[i]));
  return sizes;
}

/// A floating-point format: bits of its mantissa and the exponent of its least normal number.
struct Format {
  int mantissa, lowest;
};
Format format_of(hstu_dtype dtype) {
  switch (dtype) {
    case HSTU_DTYPE_BF16:
      return {7, -126};
    case HSTU_DTYPE_F16:
      return {10, F16::kLowest};
    case HSTU_DTYPE_E4M3:
      return {3, E4m3::kLowest};
    case HSTU_DTYPE_E5M2:
      return {2, E5m2::kLowest};
    default:
      return {23, -126};
  }
}

/// Of all elements looked at so far, the one that exceeds its bound by the largest factor.
struct Worst {
  double excess = 1, bound = 0;
  size_t index = 0, beyond = 0;  ///< beyond: elements that exceed theirs

  void look_at(size_t i, double error, double allowed) {
    if (error <= allowed) return;
    ++beyond;
    const double factor = allowed > 0 ? error / allowed : HUGE_VAL;
    if (beyond == 1 || factor > excess) excess = factor, bound = allowed, index = i;
  }
};

}  // namespace

double ulp(hstu_dtype dtype) {
  return std::ldexp(1.0, dtype == HSTU_DTYPE_BF16 ? -7 : dtype == HSTU_DTYPE_F16 ? -10 : -23);
}

double step_at(hstu_dtype dtype, double value) {
  const Format format = format_of(dtype);
  const int exponent = value == 0 ? format.lowest : std::max(std::ilogb(value), format.lowest);
  return std::ldexp(1.0, exponent - format.mantissa);
}

Tolerance rounded_once(hstu_dtype dtype) {
  // Half a step, and f32 sums, which show only where the result is f32 itself. The special functions of bf16 are wrong
  // by 2^-12, a thirty-second of its ulp; those of f16 by less.
  switch (dtype) {
    case HSTU_DTYPE_BF16:
      return {4e-3, 0.1, 0.5};
    case HSTU_DTYPE_F16:
      return {5e-4, 0.1, 0.5};
    default:
      return {2e-6, 16};
  }
}

Tolerance rounded_once_of_few(hstu_dtype dtype) {
  Tolerance tolerance = rounded_once(dtype);
  if (dtype == HSTU_DTYPE_BF16) tolerance.ulps_of_row = 0.6;  // of SiLU at -3: 3 * 2^-12 of a result of -0.14
  return tolerance;
}

Tolerance rounded_sum(hstu_dtype dtype) {
  // Each of the sums is wrong by half of its own ulp, and none is much larger than the row.
  const double frobenius = dtype == HSTU_DTYPE_F32 ? 5e-7 : rounded_once(dtype).frobenius;
  return {frobenius, 4 * ulp(HSTU_DTYPE_F32) / ulp(dtype), 0.5};
}

Tolerance rounded_to_fp8(hstu_dtype fp8) {
  // Half a step, beside what is rounded: sums cut off by 1.2e-4 of a row's deviation, or a special function, by 2^-12;
  // of all, the deviation of even errors. Results that are cut off, not rounded, would be wrong by a whole step.
  const double step = fp8 == HSTU_DTYPE_E4M3 ? 0.125 : 0.25;
  return {step / std::sqrt(12.0), 8192, 0.5};
}

Tolerance rounded_to_fp8_of_few(hstu_dtype fp8) {
  Tolerance tolerance = rounded_to_fp8(fp8);
  tolerance.ulps_of_row = 1e5;  // as above, and sums of results that cancel
  return tolerance;
}

Tolerance attention_tolerance(hstu_dtype dtype) {
  // Each of the row's terms and the result carry a rounding, which add up like the terms themselves, in squares.
  // Six deviations of them are an ulp of the row's own deviation, or two where f16's special function is as wrong as
  // its rounding; of a few elements, as heads of five have, the greatest is smaller than that now and then. In f32 a
  // row of few keys whose scores nearly cancel is wrong by the rounding of q . k over the score itself.
  if (dtype == HSTU_DTYPE_F32) return {2e-6, 2000};
  return dtype == HSTU_DTYPE_BF16 ? Tolerance{6e-3, 2.5, 0.5} : Tolerance{8e-4, 2.5, 0.5};
}

testing::AssertionResult close(const hstu_tensor& got, const Exact& exact, const Tolerance& tolerance,
                               const Exact& allowance) {
  const std::vector<double> results = values(got);
  if (results.size() != exact.size())
    return failure(fmt::format("{} results for {} expectations", results.size(), exact.size()));
  if (results.empty()) return testing::AssertionSuccess();
  const size_t row_length = results.size() / static_cast<size_t>(got.shape[0]);
  const std::vector<double> sizes = row_sizes(exact, row_length);
  double error_squares = 0, squares = 0;
  Worst worst;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (std::isnan(exact[i])) {
      if (std::isnan(results[i])) continue;  // still poison
      return failure(fmt::format("element {} was written, {}, where nothing should be", position(got, i), results[i]));
    }
    if (!std::isfinite(exact[i]) || !std::isfinite(results[i])) {
      if (results[i] == exact[i]) continue;
      return failure(fmt::format("element {} is {}, exactly {}", position(got, i), results[i], exact[i]));
    }
    const double error = std::fabs(results[i] - exact[i]);
    double allowed = tolerance.ulps_of_row * ulp(got.dtype) * sizes[i / row_length];
    if (tolerance.steps_of_element > 0) allowed += tolerance.steps_of_element * step_at(got.dtype, exact[i]);
    if (!allowance.empty()) allowed += allowance[i];
    worst.look_at(i, error, allowed);
    error_squares += error * error;
    squares += exact[i] * exact[i];
  }
  const double relative = squares > 0 ? std::sqrt(error_squares / squares) : std::sqrt(error_squares);
  if (worst.beyond > 0) {
    const size_t i = worst.index;
    const double error = std::fabs(results[i] - exact[i]);
    return failure(fmt::format(
        "element {} is {}, exactly {}: off by {:.3g}, allowed {:.3g} ({:.3g} times as much); in steps of the element "
        "{:.3g}, in ulps of its row, up to {:.3g}, {:.3g}; {} of {} elements are beyond theirs, relative error of all "
        "{:.3g}",
        position(got, i), results[i], exact[i], error, worst.bound, worst.excess, error / step_at(got.dtype, exact[i]),
        sizes[i / row_length], error / (ulp(got.dtype) * sizes[i / row_length]), worst.beyond, exact.size(), relative));
  }
  if (!(relative <= tolerance.frobenius))
    return failure(fmt::format("relative error {:.3g} of all elements exceeds {:.3g}", relative, tolerance.frobenius));
  return testing::AssertionSuccess();
}

testing::AssertionResult unchanged_around(const std::vector<hstu_tensor>& tensors, const Slab& before,
                                          const Slab& after) {
  std::vector<std::byte> restored = after.bytes;  // with the tensors' elements as they were
  const std::byte *begin = before.bytes.data(), *end = begin + before.bytes.size();
  int64_t first = -1;
  for (const hstu_tensor& t : tensors) {
    const auto* data = static_cast<const std::byte*>(t.data);
    if (data < begin || data >= end) continue;
    first = data - begin;
    for_each_run(t, [&](int64_t offset, int64_t count) {
      const int64_t at = first + offset * size_of(t.dtype);
      std::copy_n(begin + at, count * size_of(t.dtype), restored.begin() + at);
    });
  }
  if (std::memcmp(restored.data(), before.bytes.data(), restored.size()) == 0) return testing::AssertionSuccess();
  const auto changed = std::mismatch(restored.begin(), restored.end(), before.bytes.begin()).first;
  if (first < 0) return failure(fmt::format("byte {} of an input's memory was written", changed - restored.begin()));
  return failure(fmt::format("byte {} from the tensor's first was written", changed - restored.begin() - first));
}

}  // namespace hstujit::test
