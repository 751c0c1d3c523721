// FP8 attention: exact attention of the tensors' dequantised values.
#include "problem/attention/attention_fp8.hpp"
#include "problem/fp8/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "reference/integers.hpp"
#include "reference/rows.hpp"

#include <vector>

namespace hstujit::reference {
namespace {

using Args = hstu_attention_fp8_args;

/// The values of a tensor times their descales, in f32: exact but for one rounding.
class Dequantised {
 public:
  Dequantised(const Args& args, const hstu_tensor& t, const hstu_tensor& descale)
      : values_(static_cast<size_t>(t.shape[0] * t.shape[1] * t.shape[2])) {
    const int64_t heads = t.shape[1], dim = t.shape[2], batch = args.seq_offsets.shape[0] - 1;
    const auto* scales = static_cast<const float*>(descale.data);
    std::vector<double> row(static_cast<size_t>(dim));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = integer_at(args.seq_offsets, b); i < integer_at(args.seq_offsets, b + 1); ++i)
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t unit = args.scaling == HSTU_FP8_ATTENTION_BLOCK ? i / fp8::kSpan : b;
          const double scale = static_cast<double>(scales[unit * attention_fp8::unit_stride(descale, args.scaling) +
                                                          h * attention_fp8::head_stride(descale, args.scaling)]);
          load(t, i * t.stride[0] + h * t.stride[1], dim, row.data());
          float* to = &values_[static_cast<size_t>((i * heads + h) * dim)];
          for (int64_t d = 0; d < dim; ++d) to[d] = static_cast<float>(row[static_cast<size_t>(d)] * scale);
        }
    tensor = {values_.data(), HSTU_DTYPE_F32, 3, {t.shape[0], heads, dim}, {heads * dim, dim, 1}};
  }
  Dequantised(const Dequantised&) = delete;
  Dequantised& operator=(const Dequantised&) = delete;

  hstu_tensor tensor{};

 private:
  std::vector<float> values_;
};

}  // namespace

void run(const Args& args, double* const* exact) {
  check_offsets("seq_offsets", args.seq_offsets, args.q.shape[0], "total");  // which say what is dequantised
  const Dequantised q(args, args.q, args.q_descale), k(args, args.k, args.k_descale), v(args, args.v, args.v_descale);
  hstu_attention_args attention = attention_fp8::as_attention(args);
  attention.q = q.tensor, attention.k = k.tensor, attention.v = v.tensor;
  double* const outputs[] = {exact ? exact[0] : nullptr, nullptr, nullptr};  // hstu_attention has lse and moments
  run(attention, exact ? outputs : nullptr);
}

}  // namespace hstujit::reference
