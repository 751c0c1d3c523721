// Attention calls for tests on the device: sequences, masks and layouts by description.
#pragma once

#include "support/device_call.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace hstujit::test {

enum class Targets { absent, none, some, many /* up to more than there are rows */ };
enum class Scale { absent, one, rows };
enum class Bias {
  absent,
  shared,              ///< by all heads; its rows are no whole chunks of 16 bytes
  of_heads,            ///< in whole chunks
  short_of_positions,  ///< a table for the first rows only, not in whole chunks
  short_in_chunks,     ///< the same, in whole chunks
};
/// Positions that such a table has for sequences of up to `longest` rows: not enough, or more than any of them wants.
int64_t bias_positions(Bias bias, int64_t longest);
enum class Placement {
  apart,      ///< four buffers
  columns,    ///< v, q, k are columns of one buffer, as the projection leaves them
  in_buffer,  ///< so is out: it takes u's place
  heads,      ///< heads outside rows
};

struct AttentionCase {
  hstu_dtype dtype = HSTU_DTYPE_BF16;
  int64_t heads = 2, dim_qk = 64, dim_v = 64;
  int64_t kv_heads = 0;  ///< of k and v, when apart; 0: as many as heads
  std::vector<int64_t> lengths{};
  int64_t contextual = 0, max_attn_len = 0, min_full = 0;
  bool own_contexts = false;  ///< each sequence has a number of contextual rows of its own, at most `contextual`
  Targets targets = Targets::absent;
  Scale scale = Scale::absent;
  hstu_mask mask = HSTU_MASK_CAUSAL;
  hstu_dtype offset_dtype = HSTU_DTYPE_I64, target_dtype = HSTU_DTYPE_I32;
  int64_t softmax_heads = 0;
  bool lse = false;
  Bias bias = Bias::absent;
  Placement placement = Placement::apart;
  Layout layout{};          ///< of q, k, v and out, when apart
  int64_t max_seq_len = 0;  ///< 0: the longest length
  int64_t spare_rows = 3;   ///< behind the last sequence, NaN
  int64_t group = 0, left = 0, right = 0;
  int64_t intervals = 0, interval_heads = 1;  ///< of mask INTERVALS
};

/// Lengths around the sizes of tiles, in no order, with empty sequences at both ends and inside.
inline std::vector<int64_t> ragged() { return {0, 129, 1, 64, 0, 17, 2, 128, 63, 16, 65, 0, 15, 33, 127, 31, 0}; }

inline std::string name_of_case(const AttentionCase& c) {
  int64_t total = 0;
  for (const int64_t length : c.lengths) total += length;
  return fmt::format("{}_h{}_{}_{}_n{}b{}_C{}W{}F{}_t{}s{}m{}_{}_{}_p{}_l{}s{}_N{}_g{}l{}r{}i{}h{}_x{}{}b{}{}",
                     name_of(c.dtype), c.heads, c.dim_qk, c.dim_v, total, c.lengths.size(), c.contextual,
                     c.max_attn_len, c.min_full, static_cast<int>(c.targets), static_cast<int>(c.scale),
                     static_cast<int>(c.mask), name_of(c.offset_dtype), name_of(c.target_dtype),
                     static_cast<int>(c.placement), c.layout.row_padding, c.layout.shift, c.max_seq_len, c.group,
                     c.left < 0 ? 999 : c.left, c.right < 0 ? 999 : c.right, c.intervals, c.interval_heads,
                     c.softmax_heads, c.lse ? "l" : "", static_cast<int>(c.bias), c.own_contexts ? "o" : "") +
         (c.kv_heads > 0 ? fmt::format("_kv{}", c.kv_heads) : "");
}

inline void PrintTo(const AttentionCase& c, std::ostream* out) { *out << name_of_case(c); }

/// `count` numbers from 0 to `most`.
hstu_tensor random_counts(HostMemory& memory, hstu_dtype dtype, int64_t count, int64_t most);
/// Random bounds of `count` intervals a row, some empty, some beyond the sequence.
hstu_tensor random_intervals(HostMemory& memory, int64_t heads, int64_t count, int64_t rows, int64_t longest);

/// What cases of attention and of caches say alike of masks and biases; max_seq_len is set by then. counts: dtype of
/// num_contexts; total: rows of q; longest: positions that a whole bias has.
template <class Case, class Args>
void set_mask_and_bias(HostMemory& memory, const Case& c, hstu_dtype counts, int64_t total, int64_t longest,
                       Args& args) {
  const auto batch = static_cast<int64_t>(c.lengths.size());
  args.mask.kind = c.mask;
  args.mask.contextual_seq_len = c.own_contexts ? 0 : c.contextual;
  if (c.own_contexts) args.mask.num_contexts = random_counts(memory, counts, batch, c.contextual);
  args.mask.max_attn_len = c.max_attn_len;
  args.mask.min_full_attn_seq_len = c.min_full;
  args.mask.target_group_size = static_cast<int32_t>(c.group);
  args.mask.window_left = c.left;
  args.mask.window_right = c.right;
  if (c.mask == HSTU_MASK_INTERVALS)
    args.mask.intervals = random_intervals(memory, c.interval_heads, c.intervals, total, args.max_seq_len);
  if (c.bias == Bias::absent) return;
  const int64_t positions = bias_positions(c.bias, longest);
  args.rab = memory.random(c.dtype, {batch, c.bias == Bias::of_heads ? c.heads : 1, positions, positions});
}

/// The call; all its tensors lie in `memory`.
hstu_attention_args attention_args(HostMemory& memory, const AttentionCase& c);

}  // namespace hstujit::test
