// The fake driver, except that launches of layer norm on bf16 rows of 64 are computed on the host, so that tuning has
// something right to measure. A program that opens this library gets the fake driver's symbols through it.
#include "norm/row_norm.h"
#include "support/element.hpp"
#include "support/fake_driver/fake_driver.h"

#include <cmath>
#include <cstring>

namespace {

constexpr int kDim = 64;

void normalise_row(const hstu::RowNormParams& p, int64_t row, const double* weight, const double* bias) {
  const auto* in = static_cast<const uint16_t*>(p.x) + row * p.x_row_stride;
  auto* out = static_cast<uint16_t*>(p.y) + row * p.y_row_stride;
  double x[kDim], mean = 0, variance = 0;
  for (int c = 0; c < kDim; ++c) mean += (x[c] = hstujit::widen_bf16(in[c])) / kDim;
  for (int c = 0; c < kDim; ++c) variance += (x[c] - mean) * (x[c] - mean) / kDim;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(p.eps));
  for (int c = 0; c < kDim; ++c) out[c] = hstujit::Bf16::round((x[c] - mean) * scale * weight[c] + bias[c]);
}

/// Computes the launch; on the virtual clock the default's blocks, of 64 threads, take twice as long as others.
double run(const CUlaunchConfig* config, const char* entry, void** params, void*) {
  if (!std::strstr(entry, "layer_norm")) return 10;
  const auto& p = *static_cast<const hstu::RowNormParams*>(params[0]);
  double weight[kDim], bias[kDim];
  for (int c = 0; c < kDim; ++c) {
    weight[c] = hstujit::widen_bf16(static_cast<const uint16_t*>(p.weight)[c]);
    bias[c] = hstujit::widen_bf16(static_cast<const uint16_t*>(p.bias)[c]);
  }
  for (int64_t row = 0; row < p.rows; ++row) normalise_row(p, row, weight, bias);
  return config->blockDimX == 64 ? 50 : 25;
}

[[maybe_unused]] const bool installed = (fake_driver_first_hook = run, true);

}  // namespace
