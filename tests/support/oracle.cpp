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

/// Of the least number that an FP8 type has beside zero: what rounding is wrong by next to zero, however small the row.
double half_of_least(hstu_dtype dtype) {
  return dtype == HSTU_DTYPE_E4M3 ? 0x1p-10 : dtype == HSTU_DTYPE_E5M2 ? 0x1p-17 : 0;
}

}  // namespace

double ulp(hstu_dtype dtype) {
  return std::ldexp(1.0, dtype == HSTU_DTYPE_BF16 ? -7 : dtype == HSTU_DTYPE_F16 ? -10 : -23);
}

Tolerance rounded_once(hstu_dtype dtype) {
  // Half an ulp, and f32 sums, which show only where the result is f32 itself.
  switch (dtype) {
    case HSTU_DTYPE_BF16:
      return {4e-3, 0.6};
    case HSTU_DTYPE_F16:
      return {5e-4, 0.6};
    default:
      return {2e-6, 16};
  }
}

Tolerance rounded_to_fp8(hstu_dtype fp8) {
  // Half a step of 2^-3 or 2^-2 next to the least number with it, in f32's ulps; of all, the deviation of even errors.
  // Steps of results that are cut off, not rounded, would deviate by 1.3 times as much.
  const double step = fp8 == HSTU_DTYPE_E4M3 ? 0.125 : 0.25;
  return {step / std::sqrt(12.0), 0.6 * step / ulp(HSTU_DTYPE_F32)};
}

Tolerance attention_tolerance(hstu_dtype dtype) {
  // Each of the row's terms and the result carry a rounding, which add up like the terms themselves, in squares.
  // In f32 a row of few keys whose scores nearly cancel is wrong by the rounding of q . k over the score itself.
  if (dtype == HSTU_DTYPE_F32) return {2e-6, 2000};
  return dtype == HSTU_DTYPE_BF16 ? Tolerance{6e-3, 3} : Tolerance{8e-4, 3};
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
  for (size_t i = 0; i < exact.size(); ++i) {
    if (std::isnan(exact[i])) {
      if (std::isnan(results[i])) continue;  // still poison
      return failure(fmt::format("element {} was written, {}, where nothing should be", position(got, i), results[i]));
    }
    if (std::isinf(exact[i])) {
      if (results[i] == exact[i]) continue;
      return failure(fmt::format("element {} is {}, exactly {}", position(got, i), results[i], exact[i]));
    }
    const double error = std::fabs(results[i] - exact[i]), scale = ulp(got.dtype) * sizes[i / row_length];
    const double more = allowance.empty() ? 0 : allowance[i];
    if (!(error <= std::max(tolerance.ulps_of_row * scale + more, half_of_least(got.dtype))))
      return failure(fmt::format("element {} is {}, exactly {}: {:.3g} ulps of its row, {:.3g} allowed",
                                 position(got, i), results[i], exact[i], error / scale,
                                 tolerance.ulps_of_row + more / scale));
    error_squares += error * error;
    squares += exact[i] * exact[i];
  }
  const double relative = squares > 0 ? std::sqrt(error_squares / squares) : std::sqrt(error_squares);
  if (relative > tolerance.frobenius)
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
