#include "operators/jagged/jagged_lengths.hpp"

#include "operators/edge_case.hpp"
#include "support/error.hpp"

namespace hstujit::jagged_lengths {
checks::Tensor lengths(const char* name, hstu_tensor& t) {
  const checks::Tensor checked = checks::required<1>(name, t);
  checks::integer(checked);
  checks::field(checked, 0);
  return checked;
}

void same_batch(const checks::Tensor& lengths, const checks::Tensor& like) {
  checks::extent(lengths, 0, like.t.shape[0], "the batch of lengths_left");
}

void separate(std::initializer_list<const checks::Tensor*> outputs,
              std::initializer_list<const checks::Tensor*> inputs) {
  for (const checks::Tensor* out : outputs) {
    checks::no_self_overlap(*out);
    for (const checks::Tensor* in : inputs) checks::disjoint(*out, *in);
    for (const checks::Tensor* other : outputs)
      if (other != out) checks::disjoint(*out, *other);
  }
}

int64_t added(const checks::Tensor& a, const checks::Tensor& b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a.t.shape[0], b.t.shape[0], &sum))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}.shape[0] = {}: with that of {} it overflows", a.name, a.t.shape[0], b.name);
  return sum;
}

Problem problem(Op op, std::initializer_list<const checks::Tensor*> tensors, const checks::Tensor& combined,
                const hstu_tensor& left_lengths, hstu_dtype right_length, hstu_dtype offset) {
  const int64_t element = checks::element_bytes(combined.t.dtype);
  checks::ByteAccess access;
  if (combined.t.rank == 1) access.bytes(element);  // single elements, wherever they begin
  for (const checks::Tensor* t : tensors)
    if (combined.t.rank == 2) access.tensor(t->t);
  Problem problem{op, {}};
  problem[kAccessBytes] = access.width();
  problem[kRowBytes] = checks::row_bytes(combined, combined.t.rank == 1 ? 1 : combined.t.shape[1]);
  problem[kLeftLength] = left_lengths.dtype;
  problem[kRightLength] = right_length;
  problem[kOffset] = offset;
  problem[kBatch] = bucket(left_lengths.shape[0]);
  problem[kRows] = bucket(combined.t.shape[0]);
  return problem;
}

Cost cost_of(const hstu_tensor& combined, std::initializer_list<const hstu_tensor*> integers) {
  double elements = 1;
  for (int d = 0; d < combined.rank; ++d) elements *= static_cast<double>(combined.shape[d]);
  return {.flops = 0, .bytes = 2 * elements * size_of(combined.dtype) + bytes_of_all(integers)};
}

int64_t make_ragged(std::vector<int64_t>& lengths) {
  int64_t sum = 0;
  for (size_t b = 0; b < lengths.size(); ++b) {
    lengths[b] = edge_case::ragged_length(b, lengths.size(), lengths[b]);
    sum += lengths[b];
  }
  return sum;
}

}  // namespace hstujit::jagged_lengths
