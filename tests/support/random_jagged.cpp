// Random problems of the operators of jagged tensors. Copies and integers bit for bit.
#include "support/random_draw.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kI32 = HSTU_DTYPE_I32,
                     kI64 = HSTU_DTYPE_I64, kNone = HSTU_DTYPE_NONE;

/// Of elements whose bits are moved: of every size, which is all that kernels know of them.
hstu_dtype each_element(Draw& d) {
  switch (d.each({2, 4, 1, 8})) {
    case 1:
      return d.problem.any({HSTU_DTYPE_E4M3, HSTU_DTYPE_U8});
    case 2:
      return d.problem.any({kBf16, HSTU_DTYPE_I16});
    case 4:
      return kF32;
    default:
      return d.problem.any({kI64, HSTU_DTYPE_F64});
  }
}

std::vector<int64_t> short_rows(Draw& d, int64_t columns, int64_t least = 0) {
  return d.lengths(8, std::clamp<int64_t>(6'000 / columns, 2, 30), least);
}
int64_t sum(const std::vector<int64_t>& lengths) { return offsets_of(lengths).back(); }
/// Of vectors: few sequences, or many short ones, or a few long ones.
std::vector<int64_t> of_vector(Draw& d, int64_t sequences, int64_t least = 0) {
  std::vector<int64_t> out(static_cast<size_t>(sequences));
  const int64_t longest = d.problem.any<int64_t>({1, 7, 60, 900});
  for (int64_t& length : out) length = std::max(d.problem.below(longest + 1), least);
  return out;
}
int64_t sequences(Draw& d) { return d.problem.up_to(d.problem.any<int64_t>({3, 40, 300})); }

// ---- Sums and products

void draw_broadcast_add(Draw& d) {
  using Args = hstu_jagged_dense_broadcast_add_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), table = d.each({kF32, kBf16, kF16});
  const int64_t columns = d.width();
  const std::vector<int64_t> lengths = short_rows(d, columns);
  const bool in_place = d.kernel.below(5) == 0;
  const int64_t rows = sum(lengths) + (in_place ? 0 : d.problem.below(3));
  // Of one sign, so that no sum cancels, which the size of a short row would not show.
  args.jagged = d.matrix(dtype, rows, columns, Contents::normal, 3, 0.5);
  args.dense = d.matrix(table, static_cast<int64_t>(lengths.size()), columns, Contents::normal, 3, 0.5);
  args.seq_offsets = d.integers(offsets_of(lengths));
  args.out = in_place ? args.jagged : d.matrix(dtype, rows, columns, Contents::poison);
  d.correct(args, {&Args::out}, rounded_once(dtype));
}

void draw_bmm(Draw& d) {
  using Args = hstu_jagged_dense_bmm_broadcast_add_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), row = d.each({kF32, kNone, kBf16, kF16});
  const bool whole = d.each({0, 1}) != 0, wide = d.kernel.below(4) == 0;
  args.elementwise = row == kNone && d.kernel.coin();
  const int64_t n = wide ? d.kernel.up_to(5000) : whole ? 8 * d.kernel.up_to(24) : d.kernel.up_to(250);
  const int64_t k = d.kernel.coin() ? 8 * d.kernel.up_to(wide ? 6 : 20) : d.kernel.up_to(wide ? 50 : 180);
  const std::vector<int64_t> lengths = d.lengths(4, wide ? 5 : 40);
  const auto batch = static_cast<int64_t>(lengths.size()), rows = sum(lengths) + d.problem.below(3);
  const double deviation = 1 / std::sqrt(static_cast<double>(k));
  args.jagged = d.matrix(dtype, rows, k);
  const bool transposed_too = d.kernel.coin();
  const hstu_tensor t = transposed_too ? d.matrix(dtype, batch * n, k, Contents::normal, 0, deviation)
                                       : d.matrix(dtype, batch * k, n, Contents::normal, 0, deviation);
  args.dense = {t.data, t.dtype, 3, 0, {batch, k, n}, {(transposed_too ? n : k) * t.stride[0], t.stride[0], 1}};
  if (transposed_too) args.dense.stride[1] = 1, args.dense.stride[2] = t.stride[0];
  args.seq_offsets = d.integers(offsets_of(lengths));
  args.out = d.matrix(dtype, rows, n, Contents::poison);
  if (args.elementwise) args.bias = d.matrix(dtype, rows, n);
  if (row != kNone) args.bias = d.matrix(row, batch, n);
  d.correct(args, {&Args::out}, rounded_once(dtype));
}

void draw_reduce_sum(Draw& d) {
  using Args = hstu_jagged_reduce_sum_args;
  Args args{};
  const hstu_dtype dtype = d.each_floating(), result = d.each({dtype, kF32});
  const int64_t columns = d.width();
  const std::vector<int64_t> lengths = short_rows(d, columns);
  args.jagged = d.matrix(dtype, sum(lengths) + d.problem.below(3), columns, Contents::normal, 1, 0.5);
  args.seq_offsets = d.integers(offsets_of(lengths));
  args.out = d.matrix(result, static_cast<int64_t>(lengths.size()), columns, Contents::poison);
  d.correct(args, {&Args::out}, rounded_once(result));
}

// ---- Copies of rows

/// A part of a combined tensor: jagged, or dense with as many rows for each sequence.
struct Part {
  std::vector<int64_t> lengths;
  hstu_tensor tensor, offsets{};
};
Part part_of(Draw& d, hstu_dtype dtype, int64_t columns, int64_t batch, bool dense, Contents contents) {
  Part part;
  const int64_t longest = std::clamp<int64_t>(4'000 / columns, 2, 20), same = d.problem.up_to(longest);
  for (int64_t b = 0; b < batch; ++b) part.lengths.push_back(dense ? same : d.problem.below(longest + 1));
  part.tensor = dense ? d.matrices(dtype, batch, same, columns, contents)
                      : d.matrix(dtype, sum(part.lengths) + d.problem.below(3), columns, contents);
  if (!dense) part.offsets = d.integers(offsets_of(part.lengths));
  return part;
}
int64_t rows_of(const hstu_tensor& part) { return part.rank == 3 ? part.shape[0] * part.shape[1] : part.shape[0]; }

void draw_concat_2d(Draw& d) {
  hstu_concat_2d_jagged_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t columns = d.width(), batch = d.problem.up_to(6);
  const int dense = d.each({0, 1, 2});
  args.is_replace = d.kernel.seldom();
  const Part left = part_of(d, dtype, columns, batch, dense == 1, Contents::bits);
  const Part right = part_of(d, dtype, columns, batch, dense == 2, Contents::bits);
  args.left = left.tensor, args.offsets_left = left.offsets;
  args.right = right.tensor, args.offsets_right = right.offsets;
  args.n_prefix_from_right = !args.is_replace && d.kernel.coin() ? d.problem.up_to(4) : 0;
  const int64_t rows = rows_of(args.left) + (args.is_replace ? 0 : rows_of(args.right));
  args.out = d.matrix(dtype, rows, columns, Contents::poison);
  d.same_bits(args, {args.out});
}

void draw_split_2d(Draw& d) {
  hstu_split_2d_jagged_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t columns = d.width(), batch = d.problem.up_to(6);
  const int dense = d.each({0, 1, 2});
  const Part left = part_of(d, dtype, columns, batch, dense == 1, Contents::poison);
  const Part right = part_of(d, dtype, columns, batch, dense == 2, Contents::poison);
  args.left = left.tensor, args.offsets_left = left.offsets;
  args.right = right.tensor, args.offsets_right = right.offsets;
  args.n_prefix_to_right = d.kernel.coin() ? d.problem.up_to(4) : 0;
  args.values = d.matrix(dtype, rows_of(args.left) + rows_of(args.right), columns, Contents::bits);
  d.same_bits(args, {args.left, args.right});
}

void draw_to_padded(Draw& d) {
  hstu_jagged_to_padded_dense_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t columns = d.width();
  const std::vector<int64_t> lengths = short_rows(d, columns);
  args.values = d.matrix(dtype, sum(lengths) + d.problem.below(3), columns, Contents::bits);
  args.offsets = d.integers(offsets_of(lengths));
  args.out = d.matrices(dtype, static_cast<int64_t>(lengths.size()), d.problem.up_to(20), columns, Contents::poison);
  args.padding = -3;
  d.same_bits(args, {args.out});
}

void draw_from_padded(Draw& d) {
  hstu_dense_to_jagged_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t columns = d.width();
  const std::vector<int64_t> lengths = short_rows(d, columns);
  args.dense = d.matrices(dtype, static_cast<int64_t>(lengths.size()), d.problem.up_to(20), columns, Contents::bits);
  args.offsets = d.integers(offsets_of(lengths));
  args.out = d.matrix(dtype, sum(lengths) + d.problem.below(3), columns, Contents::poison);
  d.same_bits(args, {args.out});
}

void draw_truncate(Draw& d) {
  hstu_jagged_truncate_history_args args{};
  const hstu_dtype dtype = each_element(d), offset = d.kernel.integer();
  const int64_t columns = d.width();
  const std::vector<int64_t> lengths = short_rows(d, columns);
  const int64_t rows = sum(lengths) + d.problem.below(3);
  args.values = d.matrix(dtype, rows, columns, Contents::bits);
  args.seq_offsets = d.integers(offset, offsets_of(lengths));
  if (d.kernel.coin()) args.num_targets = d.counts(static_cast<int64_t>(lengths.size()), 5);
  args.out = d.matrix(dtype, rows, columns, Contents::poison);
  args.out_offsets = d.vector(offset, static_cast<int64_t>(lengths.size()) + 1, Contents::poison);
  args.contextual_seq_len = d.problem.below(4), args.keep = d.problem.below(20);
  d.same_bits(args, {args.out, args.out_offsets});
}

void draw_replace_last(Draw& d) {
  hstu_replace_last_n_with_jagged_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t columns = d.kernel.coin() ? d.kernel.up_to(80) : d.width();
  const std::vector<int64_t> left = short_rows(d, columns);
  std::vector<int64_t> right(left.size());
  for (int64_t& length : right) length = d.problem.below(9);
  args.lengths_left = d.integers(left), args.lengths_right = d.integers(right);
  args.left = d.matrix(dtype, sum(left), columns, Contents::bits);
  args.right = d.matrix(dtype, sum(right), columns, Contents::bits);
  args.out = d.matrix(dtype, sum(left), columns, Contents::poison);
  d.same_bits(args, {args.out});
}

// ---- Vectors

void draw_cumsum(Draw& d) {
  hstu_complete_cumsum_args args{};
  const hstu_dtype dtype = d.each({kI32, kI64, kF32});
  const hstu_dtype out = dtype == kI32 ? d.each({kI32, kI64}) : dtype;
  const int64_t count = d.problem.up_to(d.problem.any<int64_t>({50, 3000, 70'000}));
  args.values = d.vector(dtype, count, dtype == kF32 ? Contents::normal : Contents::bits, 1);
  args.out = d.vector(out, count + 1, Contents::poison);
  if (dtype == kF32)
    return d.correct<hstu_complete_cumsum_args>(args, {{&hstu_complete_cumsum_args::out, rounded_once(kF32)}});
  d.same_bits(args, {args.out});
}

void draw_concat_1d(Draw& d) {
  hstu_concat_1d_jagged_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t batch = sequences(d);
  const std::vector<int64_t> left = of_vector(d, batch), right = of_vector(d, batch);
  args.lengths_left = d.integers(left), args.lengths_right = d.integers(right);
  args.left = d.vector(dtype, sum(left), Contents::bits), args.right = d.vector(dtype, sum(right), Contents::bits);
  args.out = d.vector(dtype, sum(left) + sum(right), Contents::poison);
  d.same_bits(args, {args.out});
}

void draw_split_1d(Draw& d) {
  hstu_split_1d_jagged_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t batch = sequences(d);
  const std::vector<int64_t> left = of_vector(d, batch), right = of_vector(d, batch);
  args.lengths_left = d.integers(left), args.lengths_right = d.integers(right);
  args.values = d.vector(dtype, sum(left) + sum(right), Contents::bits);
  args.left = d.vector(dtype, sum(left), Contents::poison), args.right = d.vector(dtype, sum(right), Contents::poison);
  d.same_bits(args, {args.left, args.right});
}

void draw_remove(Draw& d) {
  hstu_jagged_remove_first_or_last_1d_args args{};
  const hstu_dtype dtype = each_element(d);
  const int64_t batch = sequences(d);
  const std::vector<int64_t> lengths = of_vector(d, batch, 1);
  args.lengths = d.integers(lengths);
  args.values = d.vector(dtype, sum(lengths), Contents::bits);
  args.without_first = d.vector(dtype, sum(lengths) - batch, Contents::poison);
  args.without_last = d.vector(dtype, sum(lengths) - batch, Contents::poison);
  d.same_bits(args, {args.without_first, args.without_last});
}

void draw_expand(Draw& d) {
  hstu_expand_1d_jagged_to_dense_args args{};
  const hstu_dtype dtype = each_element(d);
  const std::vector<int64_t> lengths = of_vector(d, d.problem.up_to(40));
  args.values = d.vector(dtype, sum(lengths), Contents::bits);
  args.offsets = d.integers(offsets_of(lengths));
  args.out = d.matrix(dtype, static_cast<int64_t>(lengths.size()), d.width() / 4 + 1, Contents::poison);
  d.same_bits(args, {args.out});
}

void draw_transpose(Draw& d) {
  hstu_jagged_transpose_1d_args args{};
  const hstu_dtype dtype = each_element(d), offset = d.kernel.integer(), length = d.kernel.integer();
  args.rows = d.problem.up_to(12), args.columns = d.problem.up_to(20);
  const std::vector<int64_t> lengths = of_vector(d, args.rows * args.columns);
  args.offsets = d.integers(offset, offsets_of(lengths));
  if (d.problem.coin()) args.lengths = d.integers(length, lengths);
  args.values = d.vector(dtype, sum(lengths), Contents::bits);
  args.out = d.vector(dtype, sum(lengths), Contents::poison);
  args.out_lengths = d.vector(length, args.rows * args.columns, Contents::poison);
  args.out_offsets = d.vector(offset, args.rows * args.columns + 1, Contents::poison);
  d.same_bits(args, {args.out, args.out_offsets, args.out_lengths});
}

// ---- Orders

void draw_sort_pairs(Draw& d) {
  hstu_sort_kv_pairs_args args{};
  const hstu_dtype key = d.each({kI32, kI64}), value = d.each({kBf16, kF32, HSTU_DTYPE_E4M3, kI64});
  args.descending = d.kernel.coin();
  args.end_bit = d.kernel.coin() ? 0 : static_cast<int32_t>(d.problem.up_to(key == kI32 ? 32 : 64));
  const int64_t count = d.problem.up_to(d.kernel.any<int64_t>({30, 512, 4000}));
  args.keys = d.vector(key, count, Contents::bits), args.values = d.vector(value, count, Contents::bits);
  args.out_keys = d.vector(key, count, Contents::poison), args.out_values = d.vector(value, count, Contents::poison);
  d.same_bits(args, {args.out_keys, args.out_values});
}

void draw_sort_by_length(Draw& d) {
  hstu_sort_by_length_args args{};
  const std::vector<int64_t> lengths = of_vector(d, sequences(d));
  args.offsets = d.integers(d.each({kI32, kI64}), offsets_of(lengths));
  args.out = d.vector(d.each({kI32, kI64}), static_cast<int64_t>(lengths.size()), Contents::poison);
  d.same_bits(args, {args.out});
}

}  // namespace

std::span<const RandomOperator> random_jagged() {
  static constexpr RandomOperator kAll[] = {{Op::jagged_dense_broadcast_add, draw_broadcast_add},
                                            {Op::jagged_dense_bmm_broadcast_add, draw_bmm},
                                            {Op::jagged_reduce_sum, draw_reduce_sum},
                                            {Op::concat_2d_jagged, draw_concat_2d},
                                            {Op::split_2d_jagged, draw_split_2d},
                                            {Op::jagged_to_padded_dense, draw_to_padded},
                                            {Op::dense_to_jagged, draw_from_padded},
                                            {Op::jagged_truncate_history, draw_truncate},
                                            {Op::replace_last_n_with_jagged, draw_replace_last},
                                            {Op::complete_cumsum, draw_cumsum},
                                            {Op::concat_1d_jagged, draw_concat_1d},
                                            {Op::split_1d_jagged, draw_split_1d},
                                            {Op::jagged_remove_first_or_last_1d, draw_remove},
                                            {Op::expand_1d_jagged_to_dense, draw_expand},
                                            {Op::jagged_transpose_1d, draw_transpose},
                                            {Op::sort_kv_pairs, draw_sort_pairs},
                                            {Op::sort_by_length, draw_sort_by_length}};
  return kAll;
}

}  // namespace hstujit::test
