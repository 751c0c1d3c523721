#include "verify/golden_call.hpp"

#include "operators/movable_args.hpp"
#include "support/element.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace hstujit::verify {
namespace {

bool is_floating(hstu_dtype dtype) { return dtype >= HSTU_DTYPE_F32 && dtype <= HSTU_DTYPE_BF16; }

/// Relative Frobenius error that an implementation with f32 accumulation and one rounding stays well below.
double tolerance_of(hstu_dtype dtype) {
  return dtype == HSTU_DTYPE_BF16 ? 1e-2 : dtype == HSTU_DTYPE_F16 ? 2e-3 : 2e-6;
}

hstu_tensor tensor_of(void* data, hstu_dtype dtype, std::span<const int64_t> shape) {
  hstu_tensor t{};
  t.data = data;
  t.dtype = dtype;
  t.rank = static_cast<int16_t>(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    t.shape[d] = shape[d];
    t.stride[d] = stride;
    stride *= shape[d];
  }
  return t;
}

/// The tensor's elements in row-major order.
std::vector<double> values_of(const hstu_tensor& t) {
  std::vector<double> out;
  const int64_t last = t.shape[t.rank - 1];
  const auto row = [&](int64_t offset) {
    out.resize(out.size() + static_cast<size_t>(last));
    load(t, offset, last, out.data() + out.size() - last);
  };
  if (t.rank == 1) row(0);
  for (int64_t i = 0; t.rank >= 2 && i < t.shape[0]; ++i) {
    if (t.rank == 2) row(i * t.stride[0]);
    for (int64_t j = 0; t.rank == 3 && j < t.shape[1]; ++j) row(i * t.stride[0] + j * t.stride[1]);
  }
  return out;
}

/// What one element may be wrong by, over the largest of its row. Operators round once. Of attention, terms of the sums
/// are rounded too, and chains of operators (hstu_*) round in between. In f32 scores may cancel.
double element_tolerance_of(hstu_dtype dtype, std::string_view op) {
  if (dtype == HSTU_DTYPE_F32) return 1e-5;
  const double ulps = op.starts_with("hstu_") || op == "delta_hstu_attention" ? 4 : 0.75;
  return ulps * (dtype == HSTU_DTYPE_BF16 ? 0x1p-7 : 0x1p-10);
}

/// Finds the worst element. NaN is worse than any.
void find_worst(const std::vector<double>& got, const std::vector<double>& expected, size_t row_length,
                OutputError& found) {
  found.element_error = -1;
  for (size_t row = 0; row < expected.size(); row += row_length) {
    double largest = 0;
    for (size_t i = row; i < row + row_length; ++i) largest = std::max(largest, std::fabs(expected[i]));
    for (size_t i = row; i < row + row_length; ++i) {
      const double error = std::fabs(got[i] - expected[i]) / (largest > 0 ? largest : 1);
      if (error <= found.element_error) continue;
      found.element_error = error, found.element = i, found.got = got[i], found.expected = expected[i];
      if (std::isnan(error)) return;
    }
  }
  found.element_error = std::max(found.element_error, 0.0);
}

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace

int64_t GoldenCall::integer(std::string_view key) const {
  const std::string& word = file_.text(key);
  int64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || status != std::errc() || end != word.data() + word.size())
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: metadata {} = \"{}\" is no integer", file_.path(), key, word);
  return value;
}

float GoldenCall::number(std::string_view key) const {
  const std::string& word = file_.text(key);
  float value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || status != std::errc() || end != word.data() + word.size())
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: metadata {} = \"{}\" is no number", file_.path(), key, word);
  return value;
}

std::byte* GoldenCall::allocate(int64_t bytes) {
  return buffers_.emplace_back(static_cast<size_t>(std::max<int64_t>(bytes, 1))).data();
}

void GoldenCall::run_step(const chain::Step& step) const {
  const Operator& op = operator_of(step.problem.op);
  ArgsBytes args;
  std::memcpy(args.data(), step.args, op.args_size);
  execute_(op, args.data());
}

hstu_dtype GoldenCall::working_dtype() const {
  if (precision_ == Precision::f32) return HSTU_DTYPE_F32;
  const std::string& word = file_.text("dtype");
  if (const auto dtype = dtype_named(word == "fp16" ? "f16" : word)) return *dtype;
  fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: metadata dtype = \"{}\" is unknown", file_.path(), word);
}

hstu_tensor GoldenCall::input(std::string_view name) {
  const StoredTensor* stored = file_.find(name);
  if (!stored) return {};
  const std::vector<int64_t> shape = stored->shape.empty() ? std::vector<int64_t>{1} : stored->shape;
  std::byte* copy = allocate(static_cast<int64_t>(stored->bytes.size()));
  std::copy(stored->bytes.begin(), stored->bytes.end(), copy);
  const hstu_tensor t = tensor_of(copy, stored->dtype, shape);
  if (precision_ != Precision::f32 || !is_floating(stored->dtype)) return t;

  const int64_t count = stored->elements();
  std::vector<double> values(static_cast<size_t>(count));
  load(t, 0, count, values.data());
  const hstu_tensor wide = tensor_of(allocate(count * 4), HSTU_DTYPE_F32, shape);
  store(wide, 0, count, values.data());
  return wide;
}

hstu_tensor GoldenCall::output(std::initializer_list<int64_t> shape, hstu_dtype dtype) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  const hstu_tensor t = tensor_of(allocate(count * size_of(dtype)), dtype, {shape.begin(), shape.size()});
  const std::vector<double> poison(static_cast<size_t>(count), std::nan(""));
  store(t, 0, count, poison.data());
  return t;
}

void GoldenCall::compare(std::string_view name, const hstu_tensor& got) {
  const StoredTensor* stored = file_.find("expect_" + std::string(name));
  if (!stored) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: there is no expect_{}", file_.path(), name);
  std::vector<double> error = values_of(got), expected(static_cast<size_t>(stored->elements()));
  if (error.size() != expected.size())
    fail(HSTU_ERROR_SHAPE_MISMATCH, "{}: expect_{} has {} elements, the output {}", file_.path(), name, expected.size(),
         error.size());
  const hstu_tensor flat = hstu_vector(stored->bytes.data(), stored->dtype, stored->elements());
  load(flat, 0, stored->elements(), expected.data());
  const double size = norm(expected);
  OutputError found{.name = std::string(name)};
  found.tolerance = size == 0 ? 0 : tolerance_of(working_dtype());
  found.element_tolerance = size == 0 ? 0 : element_tolerance_of(working_dtype(), file_.text("op"));
  if (!expected.empty())
    find_worst(error, expected, expected.size() / static_cast<size_t>(std::max<int64_t>(got.shape[0], 1)), found);
  for (size_t i = 0; i < error.size(); ++i) error[i] -= expected[i];
  found.error = size == 0 ? norm(error) : norm(error) / size;
  errors_.push_back(std::move(found));
}

void GoldenCall::compare_copy(std::string_view name, const hstu_tensor& got) {
  compare(name, got);
  errors_.back().tolerance = errors_.back().element_tolerance = 0;
}

hstu_tensor columns_of(const hstu_tensor& matrix, int64_t column, int64_t columns) {
  hstu_tensor t = matrix;
  t.data = static_cast<std::byte*>(matrix.data) + column * size_of(matrix.dtype);
  t.shape[1] = columns;
  return t;
}

hstu_tensor as_heads(const hstu_tensor& matrix, int64_t heads) {
  const int64_t dim = matrix.shape[1] / heads;
  return {matrix.data, matrix.dtype, 3, 0, {matrix.shape[0], heads, dim}, {matrix.stride[0], dim, 1}};
}

hstu_tensor as_matrix(const hstu_tensor& heads) {
  return {heads.data, heads.dtype, 2, 0, {heads.shape[0], heads.shape[1] * heads.shape[2]}, {heads.stride[0], 1}};
}

}  // namespace hstujit::verify
