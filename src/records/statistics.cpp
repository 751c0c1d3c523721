#include "records/statistics.hpp"

#include "support/to_integer.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

int64_t to_ns(double seconds) { return to_nearest_integer<int64_t>(seconds * 1e9); }

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = to_integer<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Timing timing_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double median = quantile(samples, 0.5);
  Timing timing;
  timing.samples = static_cast<int32_t>(samples.size());
  timing.median_ns = to_ns(median);
  timing.p20_ns = to_ns(quantile(samples, 0.2));
  timing.p80_ns = to_ns(quantile(samples, 0.8));
  for (double& s : samples) s = std::abs(s - median);
  std::sort(samples.begin(), samples.end());
  timing.mad_ns = to_ns(quantile(samples, 0.5));
  return timing;
}

double uncertainty_of(const Timing& timing) {
  // McGill, Tukey and Larsen 1978: median +- 1.57 IQR / sqrt(n); the MAD is half an IQR.
  constexpr double kNotch = 2 * 1.57;
  if (timing.median_ns <= 0 || timing.samples <= 0) return 0;
  return kNotch * static_cast<double>(timing.mad_ns) / std::sqrt(static_cast<double>(timing.samples)) /
         static_cast<double>(timing.median_ns);
}

Interval interval_of(const Timing& timing, double floor) {
  const double median = static_cast<double>(timing.median_ns);
  const double half = std::max(uncertainty_of(timing), floor) * median;
  return {median - half, median + half};
}

}  // namespace hstujit
