// What concat_2d_jagged and split_2d_jagged share, operators of a combined jagged tensor and its two parts: the key,
// checks, cost, and the order of rows in the combined tensor, which their kin of one dimension have too.
#pragma once

#include "operators/jagged/jagged_checks.hpp"
#include "operators/jagged/jagged_rows.hpp"
#include "operators/key_fields.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace hstujit {

#define HSTUJIT_JAGGED_COPY_FIELDS(X)                                                              \
  X(kAccessBytes, access_bytes, exact) /* of an aligned access to all tensors: 16, 8, 4, 2 or 1 */ \
  X(kRowBytes, row_bytes, exact)                                                                   \
  X(kLeftOffset, left_offset, dtype) /* NONE: a dense part */                                      \
  X(kRightOffset, right_offset, dtype)                                                             \
  X(kPrefix, prefix, exact)   /* 0|1 */                                                            \
  X(kReplace, replace, exact) /* 0|1 */                                                            \
  X(kBatch, batch, bucket)                                                                         \
  X(kRows, rows, bucket) /* of the combined tensor */
HSTUJIT_KEY_FIELDS(jagged_copy, HSTUJIT_JAGGED_COPY_FIELDS)

}  // namespace hstujit

namespace hstujit::jagged_copy {

/// The members of either args struct under common names.
struct Call {
  hstu_tensor &left, &right, &offsets_left, &offsets_right, &combined;
  int64_t &max_len_left, &max_len_right;
  int64_t& prefix;
  const char* combined_name;
  const char* prefix_name;
  bool replace;
  bool combines;  ///< combined is the output; otherwise the parts are
};
Problem prepare(Op op, const Call& call);

/// Sequences of prepared args: offsets may be absent on one or both sides.
struct Parts {
  JaggedPartFacts left, right;
  int64_t batch = 0;
};
Parts parts_of(const hstu_tensor& left, const hstu_tensor& right, const hstu_tensor& offsets_left,
               const hstu_tensor& offsets_right, int64_t max_len_left, int64_t max_len_right);

/// Rows of a part that belong to sequences. Reads its offsets.
int64_t rows_in_sequences(const JaggedPartFacts& part, const hstu_tensor& offsets, int64_t batch);

/// Each of `rows` rows once read and once written, and the offsets.
Cost cost_of(int64_t rows, const hstu_tensor& values, std::initializer_list<const hstu_tensor*> offsets);

}  // namespace hstujit::jagged_copy

namespace hstujit::reference {

/// Where the sequences of both parts begin. Throws Error where offsets are impossible.
struct PartOffsets {
  std::vector<int64_t> left, right;

  int64_t rows(const std::vector<int64_t>& part, size_t sequence) const { return part[sequence + 1] - part[sequence]; }
};
PartOffsets part_offsets(const jagged_copy::Parts& parts, const hstu_tensor& offsets_left,
                         const hstu_tensor& offsets_right);

/// Calls body(combined row, is right, row of that part) for every row of every sequence.
void for_each_combined_row(const PartOffsets& offsets, int64_t prefix,
                           const std::function<void(int64_t, bool, int64_t)>& body);

/// The last rows of each of left's sequences become right's: all of them, or as many of the last as there is room for.
void replace_last_rows(const PartOffsets& offsets, const hstu_tensor& left, const hstu_tensor& right, int64_t dim,
                       const RowCopies& out);

}  // namespace hstujit::reference
