// The rows of the output stage, [u' | attn | product]: what hstu_norm_mul writes and the output projection reads.
#pragma once

#include <cstdint>

namespace hstujit {

/// Segments of a row; under group norm the first two come together or not at all.
constexpr int64_t output_segments(bool concat_u, bool concat_x, bool groups) {
  if (groups) return concat_u && concat_x ? 3 : 1;
  return 1 + concat_u + concat_x;
}

/// Whether who makes u and attn can write them where the rows want them, so that nobody copies them: all three segments
/// are there, u and attn go in as they are, and a segment is whole boxes of 64 columns, as kernels with TMA store them.
constexpr bool output_written_in_place(bool concat_u, bool concat_x, bool changes_u_or_attn, int64_t columns) {
  return concat_u && concat_x && !changes_u_or_attn && columns % 64 == 0;
}

}  // namespace hstujit
