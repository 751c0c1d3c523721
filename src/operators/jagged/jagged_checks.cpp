#include "operators/jagged/jagged_checks.hpp"

#include "support/error.hpp"

namespace hstujit {

JaggedPartFacts part_of(const hstu_tensor& values, const hstu_tensor& offsets, int64_t max_len) {
  JaggedPartFacts part;
  part.dense = !present(offsets);
  part.dim = values.shape[values.rank - 1];
  part.row_stride = values.stride[values.rank - 2];
  part.rows = values.rank == 3 ? values.shape[0] * values.shape[1] : values.shape[0];
  if (part.dense) {
    part.length = max_len;
    // Unsigned: where there is no sequence the length may be anything.
    part.batch_stride =
        values.rank == 3
            ? values.stride[0]
            : static_cast<int64_t>(static_cast<uint64_t>(max_len) * static_cast<uint64_t>(part.row_stride));
  }
  return part;
}

namespace checks {

Tensor offsets(const char* name, hstu_tensor& t) {
  const Tensor checked = required<1>(name, t);
  integer(checked);
  if (t.shape[0] < 1)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[0] = 0: it must be batch + 1, so one offset, 0, for no sequence", name);
  field(checked, 0);
  return checked;
}

void same_batch(const Tensor& offsets, const Tensor& like) {
  if (offsets.t.shape[0] != like.t.shape[0])
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[0] = {}: it must be that of {}, {}", offsets.name, offsets.t.shape[0],
         like.name, like.t.shape[0]);
}

Tensor part(const char* name, hstu_tensor& t, const char* max_len_name, int64_t& max_len, bool dense) {
  const Tensor checked = dense && t.rank == 3 ? required<3>(name, t) : required<2>(name, t);
  if (!dense) return checked;
  not_negative(max_len_name, max_len, "it is the rows of each sequence of the dense part");
  if (t.rank == 3 && max_len == 0) max_len = t.shape[1];
  if (t.rank == 3) extent(checked, 1, max_len, max_len_name);
  if (t.rank == 3) product(checked, 0, 1);
  return checked;
}

void dense_batch(const Tensor& part, const char* max_len_name, int64_t max_len, int64_t batch) {
  if (part.t.rank == 3) return extent(part, 0, batch, "the batch");
  int64_t rows = 0;
  if (__builtin_mul_overflow(batch, max_len, &rows) || part.t.shape[0] != rows)
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}.shape[0] = {}: it must be {} sequences of {} = {} rows", part.name,
         part.t.shape[0], batch, max_len_name, max_len);
}

int32_t row_bytes(const Tensor& a, int64_t dim) {
  const int64_t bytes = dim * element_bytes(a.t.dtype);
  if (bytes > INT32_MAX)
    fail(HSTU_ERROR_UNSUPPORTED, "{}: a row of {} bytes; kernels cover up to {}", a.name, bytes, INT32_MAX);
  return static_cast<int32_t>(bytes);
}

}  // namespace checks
}  // namespace hstujit
