#include "families/attention/rel_bias.hpp"

#include "operators/attention/rel_bias.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace hstujit::rel_bias {
namespace {

static_assert(hstu::RelBiasParams::kBuckets == kLastBucket + 1);

/// The edges of buckets: of ages, and of differences with their signs.
struct Edges {
  std::array<float, hstu::RelBiasParams::kBuckets> limit{};
  std::array<int, hstu::RelBiasParams::kSteps> step_begin{};
};

/// The least number above `below` in which the bucket has begun; at most `from`. age_of(number): in order.
template <class Number, class AgeOf>
Number beginning_of(int64_t bucket, Number below, Number from, AgeOf age_of) {
  while (from - below > 1) {
    const Number middle = below + (from - below) / 2;
    (bucket_of(age_of(middle)) < bucket ? below : from) = middle;
  }
  return from;
}

/// Of a bucket from 1 on, as a difference; kNear if that is less.
int least_near(int bucket) {
  return beginning_of<int>(bucket, 1, hstu::RelBiasParams::kNear,
                           [](int middle) { return static_cast<float>(middle); });
}

Edges edges() {
  Edges edges;
  // Bits of positive floats are in the order of their values.
  const auto as_bits = [](float age) { return std::bit_cast<uint32_t>(age); };
  edges.limit.back() = std::numeric_limits<float>::infinity();
  for (int64_t bucket = 1; bucket <= kLastBucket; ++bucket) {
    const uint32_t bits = beginning_of(bucket, as_bits(1.0f), as_bits(0x1p64f),
                                       [](uint32_t middle) { return std::bit_cast<float>(middle); });
    edges.limit[static_cast<size_t>(bucket - 1)] = std::bit_cast<float>(bits);
  }
  int step = hstu::RelBiasParams::kLeastStep;
  for (int& begin : edges.step_begin) {
    begin = step > 0 ? least_near(step) : 1 - least_near(1 - step);
    ++step;
  }
  return edges;
}

int64_t head_stride(const hstu_tensor& table) { return table.shape[0] == 1 ? 0 : table.stride[0]; }

}  // namespace

void fill(const hstu_rel_bias_args& a, hstu::RelBiasParams& p) {
  static const Edges kEdges = edges();
  p.timestamps = static_cast<const long long*>(a.timestamps.data);
  p.position_weights = a.position_weights.data;
  p.time_weights = a.time_weights.data;
  p.rab = a.rab.data;
  p.timestamps_row_stride = a.timestamps.stride[0];
  p.position_weights_head_stride = head_stride(a.position_weights);
  p.time_weights_head_stride = head_stride(a.time_weights);
  p.rab_batch_stride = a.rab.stride[0], p.rab_head_stride = a.rab.stride[1], p.rab_row_stride = a.rab.stride[2];
  p.positions = static_cast<int>(a.rab.shape[3]);
  p.heads = static_cast<int>(a.rab.shape[1]);
  p.last_bucket = static_cast<int>(std::min<int64_t>(a.time_weights.shape[1] - 1, kLastBucket));
  p.pairs = static_cast<unsigned>(a.rab.shape[0] * a.rab.shape[1]);
  std::copy(kEdges.limit.begin(), kEdges.limit.end(), p.limit);
  std::copy(kEdges.step_begin.begin(), kEdges.step_begin.end(), p.step_begin);
}

}  // namespace hstujit::rel_bias
