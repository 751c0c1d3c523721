#include "support/attention_cases.hpp"

#include <algorithm>

namespace hstujit::test {
namespace {

/// q, k, v and out as columns u | v | q | k of one buffer, out in u's place or apart.
void place_in_columns(HostMemory& memory, const AttentionCase& c, int64_t total, hstu_attention_args& args) {
  const int64_t linear = c.heads * c.dim_v, attn = c.heads * c.dim_qk;
  const hstu_tensor buffer = memory.poison(c.dtype, {total, 2 * (linear + attn)});
  const auto part = [&](int64_t column, int64_t count) { return as_heads(columns_of(buffer, column, count), c.heads); };
  args.v = part(linear, linear);
  args.q = part(2 * linear, attn);
  args.k = part(2 * linear + attn, attn);
  if (c.placement == Placement::in_buffer)
    args.out = part(0, linear);
  else
    args.out = memory.poison(c.dtype, {total, c.heads, c.dim_v});
}

void place_apart(HostMemory& memory, const AttentionCase& c, int64_t total, hstu_attention_args& args) {
  const int64_t kv_heads = c.kv_heads > 0 ? c.kv_heads : c.heads;
  const auto place = [&](int64_t heads, int64_t dim) {
    if (c.placement != Placement::heads) return memory.poison(c.dtype, {total, heads, dim}, c.layout);
    return transposed(memory.poison(c.dtype, {heads, total, dim}, c.layout));
  };
  args.q = place(c.heads, c.dim_qk);
  args.k = place(kv_heads, c.dim_qk);
  args.v = place(kv_heads, c.dim_v);
  args.out = place(c.heads, c.dim_v);
}

std::vector<int64_t> targets_of(const AttentionCase& c, Random& random) {
  std::vector<int64_t> out;
  for (const int64_t length : c.lengths) {
    const auto most = static_cast<uint64_t>(c.targets == Targets::many ? length + 3 : length / 3);
    out.push_back(c.targets == Targets::none ? 0 : static_cast<int64_t>(random.below(most + 1)));
  }
  return out;
}

}  // namespace

int64_t bias_positions(Bias bias, int64_t longest) {
  const int64_t half = longest / 2;
  switch (bias) {
    case Bias::short_of_positions:
      return half | 1;
    case Bias::short_in_chunks:
      return std::max<int64_t>(half / 8 * 8, 8);
    case Bias::of_heads:
      return (longest + 12) / 8 * 8;
    default:
      return (longest + 5) | 1;
  }
}

hstu_tensor random_counts(HostMemory& memory, hstu_dtype dtype, int64_t count, int64_t most) {
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < count; ++i)
    counts.push_back(static_cast<int64_t>(memory.random_numbers().below(static_cast<uint64_t>(most) + 1)));
  return memory.integers(dtype, counts);
}

hstu_tensor random_intervals(HostMemory& memory, int64_t heads, int64_t count, int64_t rows, int64_t longest) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i < heads * (2 * count - 1) * rows; ++i)
    bounds.push_back(static_cast<int64_t>(memory.random_numbers().below(static_cast<uint64_t>(longest) + 9)) - 3);
  hstu_tensor t = memory.integers(HSTU_DTYPE_I32, bounds);
  t.rank = 3;
  const int64_t shape[] = {heads, 2 * count - 1, rows};
  for (int64_t d = 2, stride = 1; d >= 0; stride *= shape[d--]) t.shape[d] = shape[d], t.stride[d] = stride;
  return t;
}

hstu_attention_args attention_args(HostMemory& memory, const AttentionCase& c) {
  const auto offsets = offsets_of(c.lengths);
  const int64_t rows = offsets.back(), total = rows + c.spare_rows;
  hstu_attention_args args{};
  args.struct_size = sizeof args;
  if (c.placement == Placement::columns || c.placement == Placement::in_buffer)
    place_in_columns(memory, c, total, args);
  else
    place_apart(memory, c, total, args);
  // Rows behind the last sequence stay poison.
  for (const hstu_tensor* t : {&args.q, &args.k, &args.v}) randomise(rows_of(*t, 0, rows), memory.random_numbers());

  args.seq_offsets = memory.integers(c.offset_dtype, offsets);
  if (c.targets != Targets::absent)
    args.mask.num_targets = memory.integers(c.target_dtype, targets_of(c, memory.random_numbers()));
  if (c.scale == Scale::one) args.attn_scale = memory.floats({0.03f});
  if (c.scale == Scale::rows) args.attn_scale = memory.random(HSTU_DTYPE_F32, {total});
  args.num_softmax_heads = static_cast<int32_t>(c.softmax_heads);
  if (c.lse) args.lse = memory.poison(HSTU_DTYPE_F32, {c.softmax_heads, total});
  const int64_t longest = c.lengths.empty() ? 1 : *std::max_element(c.lengths.begin(), c.lengths.end());
  args.max_seq_len = c.max_seq_len > 0 ? c.max_seq_len : longest;
  set_mask_and_bias(memory, c, c.target_dtype, total, longest, args);
  return args;
}

}  // namespace hstujit::test
