#include "support/gated_args.hpp"

namespace hstujit::test {

hstu_tensor moments_of(HostMemory& memory, const hstu_tensor& attn, int64_t parts) {
  const std::vector<double> elements = values(attn);
  const auto length = static_cast<size_t>(attn.shape[1] / parts);
  const hstu_tensor moments = memory.poison(HSTU_DTYPE_F32, {attn.shape[0], parts, 2});
  auto* out = static_cast<float*>(moments.data);
  for (size_t part = 0; part < elements.size() / length; ++part) {
    const double* x = elements.data() + part * length;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < length; ++i) mean += x[i] / static_cast<double>(length);
    for (size_t i = 0; i < length; ++i) squares += (x[i] - mean) * (x[i] - mean);
    out[2 * part] = static_cast<float>(mean);
    out[2 * part + 1] = static_cast<float>(squares);
  }
  return moments;
}

}  // namespace hstujit::test
