// Robust statistics of repeated times: medians, because times have long tails.
#pragma once

#include "records/record.hpp"

#include <vector>

namespace hstujit {

/// Value below which the given share of the samples lies, interpolated; samples sorted, not empty.
double quantile(const std::vector<double>& sorted, double share);

/// Median, MAD, 20th and 80th percentile. samples in seconds, not empty.
Timing timing_of(std::vector<double> samples);

/// Where the true median lies with about 95 % confidence (the notch of a box plot), in nanoseconds.
struct Interval {
  double low = 0, high = 0;
  bool overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
};

/// floor: half the width that the interval has at least, as a share of the median; it stands for what repeating the
/// measurement another day would change.
Interval interval_of(const Timing& timing, double floor);

/// Half the interval's width as a share of the median, without a floor.
double uncertainty_of(const Timing& timing);

}  // namespace hstujit
