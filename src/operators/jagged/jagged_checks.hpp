// Checks that jagged operators share, and the parts of combined jagged tensors.
#pragma once

#include "operators/checks.hpp"
#include "operators/operators.hpp"

#include <cstdint>

namespace hstujit {

/// One part of a combined jagged tensor as kernels see it. A dense part of rank 2 is one of rank 3 without a gap.
struct JaggedPartFacts {
  bool dense = false;
  int64_t rows = 0;          ///< of all sequences
  int64_t length = 0;        ///< rows of every sequence of a dense part
  int64_t dim = 0;           ///< elements of a row
  int64_t row_stride = 0;    ///< elements
  int64_t batch_stride = 0;  ///< elements, of a dense part
};
/// `values` checked; offsets absent: dense, with max_len rows a sequence.
JaggedPartFacts part_of(const hstu_tensor& values, const hstu_tensor& offsets, int64_t max_len);

namespace checks {

/// Offsets of sequences: integers, one more than sequences, no more than kernels count; out shares no byte with them.
Tensor offsets(const char* name, hstu_tensor& t);
/// Throws unless the two have the same number of sequences.
void same_batch(const Tensor& offsets, const Tensor& like);

/// A part: rank 2, or rank 3 where its offsets are absent. Checks max_len of dense parts; for rank 3, 0 becomes
/// shape[1].
Tensor part(const char* name, hstu_tensor& t, const char* max_len_name, int64_t& max_len, bool dense);

/// Throws unless the dense part has this many sequences.
void dense_batch(const Tensor& part, const char* max_len_name, int64_t max_len, int64_t batch);

/// Bytes of the widest access, at most 16, that divides everything added. Elements need not be numbers.
class ByteAccess {
 public:
  ByteAccess& bytes(int64_t count) {
    bits_ |= static_cast<uint64_t>(count);
    return *this;
  }
  /// Address and all strides but the last, and the last extent.
  ByteAccess& tensor(const hstu_tensor& t) {
    bits_ |= reinterpret_cast<uintptr_t>(t.data);
    const auto element = static_cast<uint64_t>(element_bytes(t.dtype));
    for (int d = 0; d + 1 < t.rank; ++d) bits_ |= static_cast<uint64_t>(t.stride[d]) * element;  // the low ones count
    bits_ |= static_cast<uint64_t>(t.shape[t.rank - 1]) * element;
    return *this;
  }
  int32_t width() const { return static_cast<int32_t>(bits_ & (~bits_ + 1)); }  ///< the lowest set bit

 private:
  uint64_t bits_ = 16;
};

/// Bytes of a row as a problem field. UNSUPPORTED beyond 32 bits.
int32_t row_bytes(const Tensor& a, int64_t dim);

}  // namespace checks
}  // namespace hstujit
