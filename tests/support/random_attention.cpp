// Random problems of attention, of its caches and of what its masks and biases are made by.
#include "support/attention_gradients.hpp"
#include "support/cache_cases.hpp"
#include "support/fp8_weights.hpp"
#include "support/random_draw.hpp"

#include <algorithm>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kI32 = HSTU_DTYPE_I32,
                     kI64 = HSTU_DTYPE_I64;

/// Lengths of a few sequences, one at least with rows.
std::vector<int64_t> some_lengths(Draw& d, int64_t longest) {
  std::vector<int64_t> lengths = d.lengths(5, d.runs() ? longest : 3);
  lengths.front() = std::max<int64_t>(lengths.front(), 1);
  return lengths;
}

int64_t head_dim(Draw& d) {
  switch (d.kernel.below(4)) {
    case 0:
      return 5 + d.kernel.up_to(251);  // the size of a row of fewer does not show what its terms were
    case 1:
      return 8 * d.kernel.up_to(32);
    default:
      return d.kernel.any<int64_t>({32, 64, 128, 16, 96});
  }
}

/// Gaps and shifts by multiples of the bytes that the kernel's tensors are aligned to.
Layout layout_of_heads(Draw& d, hstu_dtype dtype) {
  const int64_t unit = std::max<int64_t>(d.kernel.any<int64_t>({16, 16, 16, 8, 4, 1}) / size_of(dtype), 1);
  const bool whole = unit * size_of(dtype) >= 16;
  return {.row_padding = unit * d.problem.below(3), .shift = unit * (whole ? d.problem.below(3) : 1)};
}

/// What cases of attention and of caches say alike.
template <class Case>
void set_mask(Draw& d, Case& c) {
  c.heads = d.kernel.up_to(4);
  c.dim_qk = head_dim(d), c.dim_v = d.kernel.coin() ? c.dim_qk : head_dim(d);
  c.scale = d.kernel.any({Scale::absent, Scale::one, Scale::rows});
  c.layout = layout_of_heads(d, c.dtype);
  c.mask = d.each({HSTU_MASK_CAUSAL, HSTU_MASK_CAUSAL, HSTU_MASK_LOCAL, HSTU_MASK_FULL, HSTU_MASK_INTERVALS});
  if (c.mask == HSTU_MASK_CAUSAL) {
    c.targets = d.kernel.any({Targets::absent, Targets::none, Targets::some, Targets::many});
    if (c.targets != Targets::absent) c.group = d.kernel.coin() ? d.problem.below(5) : 0;
    if (d.kernel.seldom()) c.contextual = d.problem.up_to(20), c.own_contexts = d.kernel.coin();
    if (d.kernel.coin()) c.max_attn_len = d.problem.up_to(70), c.min_full = d.problem.below(20);
  }
  if (c.mask == HSTU_MASK_LOCAL) c.left = d.problem.below(60) - 1, c.right = d.problem.below(60) - 1;
  if (c.mask == HSTU_MASK_INTERVALS) c.intervals = d.kernel.up_to(4), c.interval_heads = d.kernel.coin() ? 1 : c.heads;
}

AttentionCase attention_case(Draw& d, hstu_dtype dtype) {
  AttentionCase c{.dtype = dtype};
  set_mask(d, c);
  if (d.kernel.seldom()) c.kv_heads = c.heads, c.heads *= d.kernel.up_to(2);
  if (c.mask == HSTU_MASK_INTERVALS && c.interval_heads > 1) c.interval_heads = c.heads;
  c.lengths = some_lengths(d, 140);
  c.offset_dtype = d.kernel.integer(), c.target_dtype = d.kernel.integer();
  c.spare_rows = d.problem.any<int64_t>({0, 3});
  if (d.kernel.seldom()) c.placement = Placement::heads;
  return c;
}

/// Rows of so few elements: the largest is now and then much smaller than they are.
Tolerance tolerance_of(hstu_dtype dtype, const hstu_tensor& out) {
  Tolerance tolerance = attention_tolerance(dtype);
  if (out.shape[1] * out.shape[2] < 16) tolerance.ulps_of_row *= 2;
  return tolerance;
}

constexpr Tolerance kLse{1e-5, 200};  // a logarithm of sums of approximate powers, in f32

void draw_attention(Draw& d) {
  using Args = hstu_attention_args;
  AttentionCase c = attention_case(d, d.each_floating());
  if (d.kernel.seldom()) {
    c.softmax_heads = d.kernel.up_to(c.heads);
    c.lse = d.kernel.coin();
  }
  if (d.kernel.seldom())
    c.bias = d.kernel.any({Bias::shared, Bias::of_heads, Bias::short_of_positions, Bias::short_in_chunks});
  const Args args = attention_args(d.memory, c);
  if (c.lse) return d.correct<Args>(args, {{&Args::out, tolerance_of(c.dtype, args.out)}, {&Args::lse, kLse}});
  d.correct<Args>(args, {{&Args::out, tolerance_of(c.dtype, args.out)}});
}

void draw_attention_backward(Draw& d) {
  using Args = hstu_attention_backward_args;
  AttentionGradientCase c{.forward = attention_case(d, d.each_floating())};
  if (d.kernel.seldom()) c.forward.softmax_heads = d.kernel.up_to(c.forward.heads);
  if (d.kernel.seldom())
    c.forward.bias = d.kernel.any({Bias::shared, Bias::of_heads, Bias::short_of_positions, Bias::short_in_chunks});
  c.dq = d.kernel.below(4) > 0, c.dk = d.kernel.below(4) > 0, c.dv = !(c.dq || c.dk) || d.kernel.below(4) > 0;
  c.drab = d.kernel.coin(), c.d_attn_scale = d.kernel.coin();
  c.accumulate = d.problem.coin(), c.in_one_buffer = d.kernel.coin();
  const Args args = attention_gradient_args(d.memory, c);
  d.correct<Args>(args, d.runs() ? expected_gradients(args) : std::vector<Expected<Args>>{});
}

/// Of e4m3, as attention.h has them, between a half and one and a half.
hstu_tensor descale(Draw& d, hstu_fp8_attention_scaling scaling, int64_t batch, int64_t heads, int64_t total) {
  if (scaling == HSTU_FP8_ATTENTION_TENSOR) return d.memory.floats({0.9f});
  hstu_tensor t{};
  if (scaling == HSTU_FP8_ATTENTION_HEAD)
    t = d.vector(kF32, heads, Contents::poison);
  else
    t = d.matrix(kF32, scaling == HSTU_FP8_ATTENTION_SEQUENCE ? batch : (total + 127) / 128, heads, Contents::poison);
  for_each_run(t, [&](int64_t offset, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      static_cast<float*>(t.data)[offset + i] = 0.5f + static_cast<float>(d.problem.below(1000)) * 1e-3f;
  });
  return t;
}

void draw_attention_fp8(Draw& d) {
  using Args = hstu_attention_fp8_args;
  const hstu_dtype out = d.each({kBf16, kF16});
  const auto scaling = d.each(
      {HSTU_FP8_ATTENTION_TENSOR, HSTU_FP8_ATTENTION_HEAD, HSTU_FP8_ATTENTION_SEQUENCE, HSTU_FP8_ATTENTION_BLOCK});
  AttentionCase c = attention_case(d, out);
  c.placement = Placement::apart;
  const hstu_attention_args a = attention_args(d.memory, c);
  const int64_t total = a.q.shape[0], rows = total - c.spare_rows, batch = static_cast<int64_t>(c.lengths.size());
  const Layout layout = layout_of_heads(d, HSTU_DTYPE_E4M3);
  const auto e4m3 = [&](const hstu_tensor& like) {
    const hstu_tensor t = d.memory.poison(HSTU_DTYPE_E4M3, {total, like.shape[1], like.shape[2]}, layout);
    randomise(rows_of(t, 0, rows), d.memory.random_numbers());
    return t;
  };
  Args args{};
  args.q = e4m3(a.q), args.k = e4m3(a.k), args.v = e4m3(a.v), args.out = a.out;
  args.scaling = scaling;
  args.q_descale = descale(d, scaling, batch, args.q.shape[1], total);
  args.k_descale = descale(d, scaling, batch, args.k.shape[1], total);
  args.v_descale = descale(d, scaling, batch, args.k.shape[1], total);
  args.seq_offsets = a.seq_offsets, args.mask.num_targets = a.mask.num_targets, args.attn_scale = a.attn_scale;
  args.mask.intervals = a.mask.intervals, args.mask.num_contexts = a.mask.num_contexts;
  args.mask.kind = a.mask.kind, args.max_seq_len = a.max_seq_len;
  args.mask.contextual_seq_len = a.mask.contextual_seq_len, args.mask.max_attn_len = a.mask.max_attn_len;
  args.mask.min_full_attn_seq_len = a.mask.min_full_attn_seq_len,
  args.mask.target_group_size = a.mask.target_group_size;
  args.mask.window_left = a.mask.window_left, args.mask.window_right = a.mask.window_right;
  args.fast_sums = d.kernel.coin();
  args.struct_size = sizeof args;
  // Rounded weights make 2.7e-2 on average.
  const Exact allowance = d.runs() ? error_of_fp8_weights(args) : Exact{};
  d.correct<Args>(args, {{&Args::out, {3.5e-2, 3}, allowance}});
}

CacheCase cache_case(Draw& d, hstu_dtype dtype) {
  CacheCase c{.dtype = dtype};
  set_mask(d, c);
  c.kv_heads = c.heads;
  if (d.kernel.seldom()) c.heads *= d.kernel.up_to(3);
  if (c.mask == HSTU_MASK_INTERVALS && c.interval_heads > 1) c.interval_heads = c.heads;
  c.lengths = some_lengths(d, 150);
  c.delta = (d.kernel.coin() ? 1 : -1) * d.problem.up_to(d.runs() ? d.kernel.any<int64_t>({4, 40, 130}) : 2);
  c.integer_dtype = d.kernel.integer();
  c.one_page = d.kernel.below(5) == 0;
  c.page_size = c.one_page ? 160 : d.kernel.any<int64_t>({1, 7, 16, 32, 64, 128});
  c.interleaved = c.dim_qk == c.dim_v && d.kernel.seldom();
  return c;
}

void draw_delta(Draw& d) {
  using Args = hstu_delta_attention_args;
  CacheCase c = cache_case(d, d.each_floating());
  if (d.kernel.seldom()) c.bias = d.kernel.any({Bias::shared, Bias::of_heads, Bias::short_of_positions});
  const Args args = delta_args(d.memory, c);
  d.correct<Args>(args, {{&Args::out, tolerance_of(c.dtype, args.out)}});
}

void draw_paged(Draw& d) {
  using Args = hstu_paged_attention_args;
  CacheCase c = cache_case(d, d.each_floating());
  if (d.kernel.seldom()) c.bias = d.kernel.any({Bias::shared, Bias::of_heads, Bias::short_of_positions});
  const Args args = paged_args(d.memory, c);
  d.correct<Args>(args, {{&Args::out, tolerance_of(c.dtype, args.out)}});
}

void draw_append(Draw& d) {
  using Args = hstu_append_kv_cache_args;
  const CacheCase c = cache_case(d, d.each({kBf16, kF16, kF32, HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2}));
  d.correct<Args>(append_args(d.memory, c), {{&Args::k_cache, {0, 0}}, {&Args::v_cache, {0, 0}}});
}

void draw_flash(Draw& d) {
  using Args = hstu_flash_attention_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating();
  args.mask.kind = d.each({HSTU_MASK_CAUSAL, HSTU_MASK_FULL});
  const bool jagged = d.each({0, 1}) != 0, lse = d.kernel.coin();
  const int64_t heads = d.kernel.up_to(4), dim_qk = head_dim(d), dim_v = d.kernel.coin() ? dim_qk : head_dim(d);
  const Layout layout = layout_of_heads(d, dtype);
  args.scale = d.problem.any({0.0f, 0.2f});
  if (jagged) {
    const std::vector<int64_t> lengths = some_lengths(d, 140);
    const int64_t rows = offsets_of(lengths).back(), total = rows + d.problem.below(4);
    const auto make = [&](int64_t dim, bool written) {
      const hstu_tensor t = d.memory.poison(dtype, {total, heads, dim}, layout);
      if (!written) randomise(rows_of(t, 0, rows), d.memory.random_numbers());
      return t;
    };
    args.q = make(dim_qk, false), args.k = make(dim_qk, false), args.v = make(dim_v, false),
    args.out = make(dim_v, true);
    args.seq_offsets = d.integers(offsets_of(lengths));
    args.max_seq_len = *std::ranges::max_element(lengths);
    if (lse) args.lse = d.memory.poison(kF32, {heads, total});
  } else {
    const int64_t batch = d.problem.up_to(3), most = d.runs() ? 140 : 3;
    const int64_t queries = d.problem.up_to(most), keys = d.problem.up_to(most);
    const auto make = [&](int64_t rows, int64_t dim, bool written) {
      return written ? d.memory.poison(dtype, {batch, heads, rows, dim}, layout)
                     : d.memory.random(dtype, {batch, heads, rows, dim}, layout);
    };
    args.q = make(queries, dim_qk, false), args.k = make(keys, dim_qk, false), args.v = make(keys, dim_v, false);
    args.out = make(queries, dim_v, true);
    if (lse) args.lse = d.memory.poison(kF32, {batch, heads, queries});
  }
  if (lse) return d.correct<Args>(args, {{&Args::out, tolerance_of(dtype, args.out)}, {&Args::lse, kLse}});
  d.correct<Args>(args, {{&Args::out, tolerance_of(dtype, args.out)}});
}

void draw_sla(Draw& d) {
  hstu_build_sla_func_args args{};
  const std::vector<int64_t> lengths = d.lengths(30, 60);
  args.seq_offsets = d.integers(d.each({kI64, kI32}), offsets_of(lengths));
  if (d.each({0, 1})) args.num_targets = d.counts(static_cast<int64_t>(lengths.size()), 20);
  args.intervals = d.memory.poison(kI32, {d.kernel.up_to(4), 3, offsets_of(lengths).back() + d.problem.below(6)},
                                   {.row_padding = d.problem.below(5), .shift = d.problem.below(4)});
  args.last_keys = d.problem.below(30);
  args.contextual_seq_len = d.problem.below(6);
  args.first_keys = args.contextual_seq_len + d.problem.below(6);
  d.same_bits(args, {args.intervals});
}

/// [heads or 1, count] of weights of one sign, so that no sum cancels.
hstu_tensor bias_weights(Draw& d, hstu_dtype dtype, int64_t heads, int64_t count) {
  return d.matrix(dtype, d.kernel.coin() ? 1 : heads, count, Contents::normal, 3, 0.5);
}

void draw_rel_bias(Draw& d) {
  using Args = hstu_rel_bias_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), table = d.each({kF32, kBf16, kF16});
  const int64_t batch = d.problem.up_to(2), heads = d.kernel.up_to(3);
  const int64_t unit = d.kernel.any<int64_t>({8, 4, 2, 1}),
                n = unit * (unit < 8 ? 2 * d.problem.below(20) + 1 : d.problem.up_to(16));
  std::vector<int64_t> times;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0, time = 1'700'000'000; i < n; ++i)
      times.push_back(time += d.problem.below(d.problem.below(40) == 0 ? int64_t{1} << 34 : 90'000));
  const hstu_tensor t = d.integers(kI64, times);
  args.timestamps = {t.data, t.dtype, 2, 0, {batch, n}, {n, 1}};
  args.position_weights = bias_weights(d, table, heads, 2 * n - 1);
  args.time_weights = bias_weights(d, table, heads, d.problem.any<int64_t>({1, 20, 129}));
  const hstu_tensor rab = d.matrices(dtype, batch * heads, n, n, Contents::poison);
  args.rab = {
      rab.data, rab.dtype, 4, 0, {batch, heads, n, n}, {heads * rab.stride[0], rab.stride[0], rab.stride[1], 1}};
  d.correct<Args>(args, {{&Args::rab, rounded_sum(dtype)}});
}

}  // namespace

std::span<const RandomOperator> random_attention() {
  static constexpr RandomOperator kAll[] = {{Op::attention, draw_attention},
                                            {Op::attention_backward, draw_attention_backward},
                                            {Op::attention_fp8, draw_attention_fp8},
                                            {Op::delta_attention, draw_delta},
                                            {Op::paged_attention, draw_paged},
                                            {Op::append_kv_cache, draw_append},
                                            {Op::flash_attention, draw_flash},
                                            {Op::build_sla_func, draw_sla},
                                            {Op::rel_bias, draw_rel_bias}};
  return kAll;
}

}  // namespace hstujit::test
