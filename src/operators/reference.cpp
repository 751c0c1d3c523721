#include "operators/reference.hpp"

#include "support/threads.hpp"
#include "support/to_integer.hpp"

#include <algorithm>
#include <thread>

namespace hstujit::reference {

void normalise(double* x, int64_t count, double eps) {
  if (count == 0) return;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + eps);
  for (int64_t i = 0; i < count; ++i) x[i] = (x[i] - mean) * scale;
}

void normalise_rms(double* x, int64_t count, double eps) {
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += x[i] * x[i];
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + eps);
  for (int64_t i = 0; i < count; ++i) x[i] *= scale;
}

void round_to(hstu_dtype dtype, double* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (dtype == HSTU_DTYPE_F32) x[i] = static_cast<float>(x[i]);
    if (dtype == HSTU_DTYPE_F16) x[i] = F16::widen(F16::round(x[i]));
    if (dtype == HSTU_DTYPE_BF16) x[i] = Bf16::widen(Bf16::round(x[i]));
  }
}

std::vector<double> load_vector(const hstu_tensor& t, int64_t count, double absent) {
  std::vector<double> out(static_cast<size_t>(count), absent);
  if (t.dtype != HSTU_DTYPE_NONE) load(t, 0, count, out.data());
  return out;
}

void parallel_for(int64_t count, double operations, const std::function<void(int64_t)>& body) {
  constexpr double kWorthAThread = 1e6;  // about a millisecond; starting a thread takes some 20 us
  const auto wanted = to_integer<int64_t>(operations / kWorthAThread, 0, 64);
  const int64_t threads = std::min({wanted, count, static_cast<int64_t>(std::thread::hardware_concurrency())});
  for_each_index(count, threads, body);
}

}  // namespace hstujit::reference
