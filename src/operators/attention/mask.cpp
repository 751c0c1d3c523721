#include "operators/attention/mask.hpp"

#include "operators/operators.hpp"
#include "support/element.hpp"

#include <algorithm>

namespace hstujit::reference {

namespace {

/// Rows that the sequence's own number counts, or `absent`. The mask adds such numbers to others: beyond the rows of
/// every sequence that there can be, one is as good as another.
int64_t rows_at(const hstu_tensor& counts, int64_t b, int64_t absent) {
  constexpr int64_t kManyRows = int64_t{1} << 40;
  return present(counts) ? std::clamp<int64_t>(integer_at(counts, b), 0, kManyRows) : absent;
}

}  // namespace

bool SequenceMask::in_intervals(int64_t i, int64_t j) const {
  const auto bound = [&](int64_t m) {
    return integer_at(bounds, m * bounds.stride[0] + (row_of_zero + i) * bounds.stride[1]);
  };
  if (j < bound(0)) return true;
  for (int64_t m = 1; m + 1 < bounds.shape[0]; m += 2)
    if (j >= bound(m) && j < bound(m + 1)) return true;
  return false;
}

SequenceMask sequence_mask(const hstu_mask_options& options, int64_t b, int64_t row_of_zero, int64_t head) {
  SequenceMask mask{.kind = options.kind,
                    .contextual = rows_at(options.num_contexts, b, options.contextual_seq_len),
                    .targets = rows_at(options.num_targets, b, 0),
                    .max_attn_len = options.max_attn_len,
                    .min_full = options.min_full_attn_seq_len,
                    .group = options.target_group_size,
                    .left = options.window_left,
                    .right = options.window_right};
  if (options.kind != HSTU_MASK_INTERVALS) return mask;
  const hstu_tensor& all = options.intervals;
  const int64_t offset = all.shape[0] == 1 ? 0 : head * all.stride[0];
  mask.bounds = {static_cast<int32_t*>(all.data) + offset,  // i32
                 all.dtype,
                 2,
                 HSTU_STRIDES_GIVEN,
                 {all.shape[1], all.shape[2]},
                 {all.stride[1], all.stride[2]}};
  mask.row_of_zero = row_of_zero;
  return mask;
}

KeyRange keys_of_row(const SequenceMask& mask, int64_t i, int64_t n) {
  if (mask.kind == HSTU_MASK_FULL) return {0, n, i};
  if (mask.kind == HSTU_MASK_LOCAL)
    return {mask.left < 0 ? 0 : std::max<int64_t>(i - mask.left, 0),
            mask.right < 0 ? n : std::min(i + mask.right + 1, n), i};
  if (n < mask.contextual + mask.targets) return {i, i, i};
  const int64_t history = n - mask.targets;
  if (i < mask.contextual) return {0, history, i};
  const int64_t own = i < history ? i : history + (i - history) / mask.group * mask.group;
  const int64_t end = std::min(i, history), shared = std::max<int64_t>(mask.contextual - 1, 0);
  const bool exempt = mask.max_attn_len == 0 || (mask.min_full > 0 && i >= history - mask.min_full);
  const bool reaches_start = end - shared <= mask.max_attn_len;
  return {exempt || reaches_start ? 0 : end - mask.max_attn_len, end, own};
}

double pair_count(const SequenceMask& mask, int64_t n, int64_t first) {
  int64_t pairs = 0;
  for (int64_t i = std::max<int64_t>(first, 0); i < n; ++i) {
    if (mask.kind == HSTU_MASK_INTERVALS) {
      for (int64_t j = 0; j < n; ++j) pairs += mask.allows(i, j, n);
      continue;
    }
    const KeyRange keys = keys_of_row(mask, i, n);
    const bool own_inside = keys.begin <= i && i < keys.end;
    pairs += keys.end - keys.begin + (own_inside ? 0 : i + 1 - keys.own);
  }
  return static_cast<double>(pairs);
}

double pair_count_of_heads(const hstu_mask_options& options, int64_t heads, int64_t b, int64_t row_of_zero,
                           int64_t first, int64_t n) {
  if (options.kind != HSTU_MASK_INTERVALS || options.intervals.shape[0] == 1)
    return static_cast<double>(heads) * pair_count(sequence_mask(options, b, row_of_zero, 0), n, first);
  double pairs = 0;
  for (int64_t head = 0; head < heads; ++head)
    pairs += pair_count(sequence_mask(options, b, row_of_zero, head), n, first);
  return pairs;
}

}  // namespace hstujit::reference
