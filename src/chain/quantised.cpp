#include "chain/quantised.hpp"

#include "operators/fp8/fp8_scales.hpp"

namespace hstujit::chain {
namespace {

/// Lines of whole 16 bytes, which the products' loads want.
int64_t pitch_of(int64_t columns) { return ceil_div(columns, 16) * 16; }

int64_t scales_of(int64_t columns, hstu_fp8_scaling scaling) {
  return scaling == HSTU_FP8_GROUP ? ceil_div(columns, fp8::kSpan) : 1;
}

}  // namespace

QuantisedSpace QuantisedSpace::take(Workspace& space, int64_t rows, int64_t columns, hstu_fp8_scaling scaling) {
  QuantisedSpace taken;
  taken.q = space.take(matrix_bytes(HSTU_DTYPE_E4M3, rows, pitch_of(columns)));
  taken.descale = space.take(matrix_bytes(HSTU_DTYPE_F32, rows, scales_of(columns, scaling)));
  return taken;
}

Quantised QuantisedSpace::matrix(int64_t rows, int64_t columns, hstu_fp8_scaling scaling) const {
  Quantised m;
  m.q = hstu_matrix(q, HSTU_DTYPE_E4M3, rows, columns);
  m.q.stride[0] = pitch_of(columns);
  m.q.stride[1] = 1;
  m.descale = scaling == HSTU_FP8_GROUP ? hstu_matrix(descale, HSTU_DTYPE_F32, rows, scales_of(columns, scaling))
                                        : hstu_vector(descale, HSTU_DTYPE_F32, rows);
  return m;
}

}  // namespace hstujit::chain
