// What concat_2d_jagged and split_2d_jagged have in common as problems: a combined jagged tensor and its two parts.
#pragma once

#include "problem/jagged/jagged_checks.hpp"

#include <initializer_list>
#include <span>

namespace hstujit::jagged_copy {

std::span<const FieldInfo> fields();

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
Work work_of(int64_t rows, const hstu_tensor& values, std::initializer_list<const hstu_tensor*> offsets);

}  // namespace hstujit::jagged_copy
