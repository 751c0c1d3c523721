#include "operators/jagged/padded.hpp"

#include "support/element.hpp"

#include <algorithm>

namespace hstujit::padded {
Problem check(Op op, const checks::Tensor& jagged, const checks::Tensor& dense, hstu_tensor& offsets, bool to_dense) {
  const checks::Tensor starts = checks::offsets("offsets", offsets);
  const checks::Tensor &to = to_dense ? dense : jagged, &from = to_dense ? jagged : dense;
  checks::same_dtype(to, from);
  checks::extent(dense, 0, offsets.shape[0] - 1, "batch = offsets.shape[0] - 1");
  checks::field(dense, 1);  // kernels count the rows of a sequence in 32 bits
  checks::extent(to, to.t.rank - 1, from.t.shape[from.t.rank - 1], "the row length of the other");
  checks::no_self_overlap(to);
  checks::disjoint(to, from);
  checks::disjoint(to, starts);
  Problem problem{op, {}};
  problem[kAccessBytes] = checks::ByteAccess().tensor(jagged.t).tensor(dense.t).width();
  problem[kRowBytes] = checks::row_bytes(jagged, jagged.t.shape[1]);
  problem[kOffsetDtype] = offsets.dtype;
  problem[kBatch] = bucket(dense.t.shape[0]);
  problem[kRows] = bucket(to_dense ? dense.t.shape[0] * dense.t.shape[1] : jagged.t.shape[0]);
  return problem;
}

Cost cost_of(const hstu_tensor& jagged, const hstu_tensor& dense, const hstu_tensor& offsets, bool to_dense) {
  const int64_t batch = dense.shape[0];
  double shared = 0;  // rows that both forms have
  for (int64_t b = 0; b < batch; ++b)
    shared += static_cast<double>(std::min(integer_at(offsets, b + 1) - integer_at(offsets, b), dense.shape[1]));
  const double written = to_dense ? static_cast<double>(batch) * static_cast<double>(dense.shape[1])
                                  : static_cast<double>(integer_at(offsets, batch));
  const double row = static_cast<double>(jagged.shape[1]) * size_of(jagged.dtype);
  return {.flops = 0, .bytes = (shared + written) * row + static_cast<double>(extent_bytes(offsets))};
}

}  // namespace hstujit::padded
