#include "reference/mask.hpp"

#include "problem/operators.hpp"
#include "support/element.hpp"

#include <algorithm>

namespace hstujit::reference {

SequenceMask sequence_mask(const hstu_attention_args& args, int64_t b) {
  return {.full = args.mask == HSTU_MASK_FULL,
          .contextual = args.contextual_seq_len,
          .targets = present(args.num_targets) ? integer_at(args.num_targets, b) : 0,
          .max_attn_len = args.max_attn_len,
          .min_full = args.min_full_attn_seq_len};
}

KeyRange keys_of_row(const SequenceMask& mask, int64_t i, int64_t n) {
  if (mask.full) return {0, n};
  if (n < mask.contextual + mask.targets) return {i, i};
  const int64_t history = n - mask.targets;
  if (i < mask.contextual) return {0, history};
  const int64_t end = std::min(i, history), shared = std::max<int64_t>(mask.contextual - 1, 0);
  const bool exempt = mask.max_attn_len == 0 || (mask.min_full > 0 && i >= history - mask.min_full);
  const bool reaches_start = end - shared <= mask.max_attn_len;
  return {exempt || reaches_start ? 0 : end - mask.max_attn_len, end};
}

double pair_count(const SequenceMask& mask, int64_t n) {
  if (mask.full) return static_cast<double>(n) * static_cast<double>(n);
  int64_t pairs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const KeyRange keys = keys_of_row(mask, i, n);
    const bool own_inside = keys.begin <= i && i < keys.end;
    pairs += keys.end - keys.begin + (own_inside ? 0 : 1);
  }
  return static_cast<double>(pairs);
}

}  // namespace hstujit::reference
