// How much of a sequence stays when its oldest history is dropped.
#pragma once

#include "operators/targets.hpp"

#include <hstujit/hstujit.h>

#include <algorithm>
#include <cstdint>

namespace hstujit::truncate_history {

/// Of the `rows` rows of sequence b. args prepared, so that both lengths in it are limited.
inline int64_t rows_that_stay(const hstu_jagged_truncate_history_args& args, int64_t b, int64_t rows) {
  return std::min(rows, args.contextual_seq_len + targets_of(args.num_targets, b, rows) + args.keep);
}

}  // namespace hstujit::truncate_history
