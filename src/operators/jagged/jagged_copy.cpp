#include "operators/jagged/jagged_copy.hpp"

#include "operators/integers.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::jagged_copy {
namespace {

/// Sequences of the offsets that are there; of two dense parts, of left.
int64_t batch_of(const hstu_tensor& left, const hstu_tensor& offsets_left, const hstu_tensor& offsets_right,
                 int64_t max_len_left) {
  if (present(offsets_left)) return offsets_left.shape[0] - 1;
  if (present(offsets_right)) return offsets_right.shape[0] - 1;
  if (left.rank == 3) return left.shape[0];
  return max_len_left > 0 ? left.shape[0] / max_len_left : 0;
}

/// Offsets agree in their sequences, and dense parts have as many.
void check_batch(const Call& call, const checks::Tensor& left, const checks::Tensor& right, bool left_dense,
                 bool right_dense) {
  if (!left_dense) checks::offsets("offsets_left", call.offsets_left);
  if (!right_dense) checks::offsets("offsets_right", call.offsets_right);
  if (!left_dense && !right_dense)
    checks::same_batch({"offsets_right", call.offsets_right}, {"offsets_left", call.offsets_left});
  const int64_t batch = batch_of(call.left, call.offsets_left, call.offsets_right, call.max_len_left);
  if (batch >= INT32_MAX) fail(HSTU_ERROR_UNSUPPORTED, "left: {} sequences; kernels count them in 32 bits", batch);
  if (left_dense) checks::dense_batch(left, "max_len_left", call.max_len_left, batch);
  if (right_dense) checks::dense_batch(right, "max_len_right", call.max_len_right, batch);
}

void check_memory(const checks::Tensor& left, const checks::Tensor& right, const checks::Tensor& combined,
                  const Call& call) {
  const checks::Tensor offsets_left{"offsets_left", call.offsets_left, extent_bytes(call.offsets_left)};
  const checks::Tensor offsets_right{"offsets_right", call.offsets_right, extent_bytes(call.offsets_right)};
  const auto check_output = [&](const checks::Tensor& out) {
    checks::no_self_overlap(out);
    checks::disjoint(out, offsets_left);
    checks::disjoint(out, offsets_right);
  };
  if (call.combines) {
    check_output(combined);
    checks::disjoint(combined, left);
    checks::disjoint(combined, right);
  } else {
    check_output(left);
    check_output(right);
    checks::disjoint(left, combined);
    checks::disjoint(right, combined);
    checks::disjoint(left, right);
  }
}

void check_prefix(const Call& call) {
  checks::not_negative(call.prefix_name, call.prefix, "0 means that left comes first");
  if (call.replace && call.prefix != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: with is_replace it must be 0", call.prefix_name, call.prefix);
}

int64_t added(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail(HSTU_ERROR_INVALID_ARGUMENT, "left: its rows and right's overflow");
  return sum;
}

}  // namespace

Problem prepare(Op op, const Call& call) {
  const bool left_dense = !checks::given("offsets_left", call.offsets_left);
  const bool right_dense = !checks::given("offsets_right", call.offsets_right);
  const checks::Tensor left = checks::part("left", call.left, "max_len_left", call.max_len_left, left_dense);
  const checks::Tensor right = checks::part("right", call.right, "max_len_right", call.max_len_right, right_dense);
  const checks::Tensor combined = checks::required<2>(call.combined_name, call.combined);
  checks::same_dtype(right, left);
  checks::same_dtype(combined, left);
  check_batch(call, left, right, left_dense, right_dense);
  check_prefix(call);
  const Parts parts =
      parts_of(call.left, call.right, call.offsets_left, call.offsets_right, call.max_len_left, call.max_len_right);
  checks::extent(right, right.t.rank - 1, parts.left.dim, "the row length of left");
  checks::extent(combined, 1, parts.left.dim, "the row length of left");
  const int64_t rows = call.replace ? parts.left.rows : added(parts.left.rows, parts.right.rows);
  checks::extent(combined, 0, rows, call.replace ? "rows of left" : "rows of left and right");
  check_memory(left, right, combined, call);

  Problem problem{op, {}};
  problem[kAccessBytes] = checks::ByteAccess().tensor(left.t).tensor(right.t).tensor(combined.t).width();
  problem[kRowBytes] = checks::row_bytes(left, parts.left.dim);
  problem[kLeftOffset] = call.offsets_left.dtype;
  problem[kRightOffset] = call.offsets_right.dtype;
  problem[kPrefix] = call.prefix > 0;
  problem[kReplace] = call.replace;
  problem[kBatch] = bucket(parts.batch);
  problem[kRows] = bucket(rows);
  return problem;
}

Parts parts_of(const hstu_tensor& left, const hstu_tensor& right, const hstu_tensor& offsets_left,
               const hstu_tensor& offsets_right, int64_t max_len_left, int64_t max_len_right) {
  return {part_of(left, offsets_left, max_len_left), part_of(right, offsets_right, max_len_right),
          batch_of(left, offsets_left, offsets_right, max_len_left)};
}

int64_t rows_in_sequences(const JaggedPartFacts& part, const hstu_tensor& offsets, int64_t batch) {
  return part.dense ? batch * part.length : integer_at(offsets, batch);
}

Cost cost_of(int64_t rows, const hstu_tensor& values, std::initializer_list<const hstu_tensor*> offsets) {
  const auto row = static_cast<double>(values.shape[values.rank - 1] * size_of(values.dtype));
  return {.flops = 0, .bytes = 2 * static_cast<double>(rows) * row + bytes_of_all(offsets)};
}

}  // namespace hstujit::jagged_copy

namespace hstujit::reference {

PartOffsets part_offsets(const jagged_copy::Parts& parts, const hstu_tensor& offsets_left,
                         const hstu_tensor& offsets_right) {
  const auto of = [&](const char* name, const JaggedPartFacts& part, const hstu_tensor& offsets) {
    return part.dense ? dense_offsets(parts.batch, part.length) : read_offsets(name, offsets, part.rows);
  };
  return {of("offsets_left", parts.left, offsets_left), of("offsets_right", parts.right, offsets_right)};
}

void for_each_combined_row(const PartOffsets& offsets, int64_t prefix,
                           const std::function<void(int64_t, bool, int64_t)>& body) {
  for (size_t b = 0; b + 1 < offsets.left.size(); ++b) {
    const int64_t a = offsets.rows(offsets.left, b), c = offsets.rows(offsets.right, b), p = std::min(prefix, c);
    int64_t row = offsets.left[b] + offsets.right[b];
    for (int64_t i = 0; i < p; ++i) body(row++, true, offsets.right[b] + i);
    for (int64_t i = 0; i < a; ++i) body(row++, false, offsets.left[b] + i);
    for (int64_t i = p; i < c; ++i) body(row++, true, offsets.right[b] + i);
  }
}

void replace_last_rows(const PartOffsets& offsets, const hstu_tensor& left, const hstu_tensor& right, int64_t dim,
                       const RowCopies& out) {
  for (size_t b = 0; b + 1 < offsets.left.size(); ++b) {
    const int64_t a = offsets.rows(offsets.left, b), c = offsets.rows(offsets.right, b);
    for (int64_t t = 0; t < a; ++t) {
      const bool from_right = t >= a - c;
      const hstu_tensor& from = from_right ? right : left;
      const int64_t row = from_right ? offsets.right[b] + t - (a - c) : offsets.left[b] + t;
      out.copy(offsets.left[b] + t, from, RowCopies::start_of(from, row), dim);
    }
  }
}

}  // namespace hstujit::reference
