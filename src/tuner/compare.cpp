#include "tuner/compare.hpp"

#include "operators/problem.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hstujit {
namespace {

/// Widening f16 by the general rule is slow; there are only 65,536 of them.
const float* f16_values() {
  static const auto table = [] {
    auto values = std::make_unique<std::array<float, 65536>>();
    for (size_t bits = 0; bits < values->size(); ++bits)
      (*values)[bits] = static_cast<float>(F16::widen(static_cast<uint16_t>(bits)));
    return values;
  }();
  return table->data();
}

/// The rows of a tensor: its elements with all indices but the last fixed.
class Rows {
 public:
  explicit Rows(const hstu_tensor& t) : t_(t), length_(t.rank > 0 ? t.shape[t.rank - 1] : 1) {
    for (int d = 0; d + 1 < t.rank; ++d) count_ *= t.shape[d];
    if (length_ == 0) count_ = 0;
  }

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }

  const std::byte* bytes(int64_t row) const {
    int64_t offset = 0;
    for (int d = t_.rank - 2; d >= 0; --d) {
      offset += row % t_.shape[d] * t_.stride[d];
      row /= t_.shape[d];
    }
    return static_cast<const std::byte*>(t_.data) + offset * size_of(t_.dtype);
  }

  bool contiguous() const { return t_.rank == 0 || t_.stride[t_.rank - 1] == 1; }

  void read(int64_t row, float* out) const {
    const int64_t step = t_.rank > 0 ? t_.stride[t_.rank - 1] : 1;
    if (t_.dtype == HSTU_DTYPE_F32) return read_as<float>(row, out, step, [](float value) { return value; });
    if (t_.dtype == HSTU_DTYPE_BF16) return read_as<uint16_t>(row, out, step, from_bf16);
    if (t_.dtype == HSTU_DTYPE_E4M3) return read_as<uint8_t>(row, out, step, from_float8<E4m3>);
    if (t_.dtype == HSTU_DTYPE_E5M2) return read_as<uint8_t>(row, out, step, from_float8<E5m2>);
    const float* values = f16_values();
    read_as<uint16_t>(row, out, step, [values](uint16_t bits) { return values[bits]; });
  }

 private:
  template <class Format>
  static float from_float8(uint8_t bits) {
    return static_cast<float>(Format::widen(bits));
  }
  static float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

  template <class Element, class Widen>
  void read_as(int64_t row, float* out, int64_t step, Widen widen) const {
    const auto* from = reinterpret_cast<const Element*>(bytes(row));
    if (step == 1)  // a loop of its own, for vector instructions
      for (int64_t i = 0; i < length_; ++i) out[i] = widen(from[i]);
    else
      for (int64_t i = 0; i < length_; ++i) out[i] = widen(from[i * step]);
  }

  const hstu_tensor& t_;
  int64_t length_;
  int64_t count_ = 1;
};

/// What is known of one or more rows.
struct Sums {
  double expected = 0, differences = 0;  ///< squares
  int64_t elements = 0;
  int64_t impossible_row = -1, impossible_element = 0;  ///< first NaN or infinity on one side only
  float impossible_expected = 0, impossible_actual = 0;
};

struct RowResult {
  float largest = 0, difference = 0;
};

bool is_finite(float value) { return (std::bit_cast<uint32_t>(value) & 0x7f800000) != 0x7f800000; }

/// A row with NaN or infinity in it, or with elements of unusual size.
RowResult compare_special_row(const float* e, const float* a, int64_t length, int64_t row, Sums& sums) {
  RowResult result;
  for (int64_t i = 0; i < length; ++i) {
    if (is_finite(e[i]) && is_finite(a[i])) {
      const float d = std::fabs(e[i] - a[i]);
      result.largest = std::max(result.largest, std::fabs(e[i]));
      result.difference = std::max(result.difference, d);
      sums.expected += double{e[i]} * e[i];
      sums.differences += double{d} * d;
      ++sums.elements;
    } else if (!(std::isnan(e[i]) && std::isnan(a[i])) && !(e[i] == a[i]) && sums.impossible_row < 0) {
      sums.impossible_row = row;
      sums.impossible_element = i;
      sums.impossible_expected = e[i];
      sums.impossible_actual = a[i];
    }
  }
  return result;
}

/// Four elements side by side: the compiler may not reorder floating-point additions, so their order is made for vector
/// instructions.
using Four = float __attribute__((vector_size(16)));
constexpr int kLanes = 4;

Four four_at(const float* from) {
  Four values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

Four larger(Four a, Four b) { return a > b ? a : b; }

/// What is known of a part of a row, lane by lane.
struct Lanes {
  Four largest{}, difference{}, expected{}, differences{};

  void visit(Four e, Four a) {
    const Four size = larger(e, -e), d = larger(e - a, a - e);
    largest = larger(size, largest);
    difference = larger(d, difference);
    expected += size * size;
    differences += d * d;
  }
};

/// The usual row, of which squares in f32 say enough; false for one with NaN, with infinity, or of a size whose squares
/// do not fit. The host compares while its cores compile, so this loop is most of what a trial of large tensors takes.
bool compare_plain_row(const float* e, const float* a, int64_t length, Sums& sums, RowResult& result) {
  constexpr int64_t kPart = 128 * kLanes;  // sums of so many elements are good to some millionths
  constexpr float kTiny = 1e-12f, kHuge = 1e15f;
  double expected = 0, differences = 0;
  for (int64_t begin = 0; begin < length; begin += kPart) {
    const int64_t end = std::min(length, begin + kPart);
    Lanes lanes;
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) lanes.visit(four_at(e + i), four_at(a + i));
    if (i < end) {
      float last_e[kLanes] = {}, last_a[kLanes] = {};
      std::copy(e + i, e + end, last_e);
      std::copy(a + i, a + end, last_a);
      lanes.visit(four_at(last_e), four_at(last_a));
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      result.largest = std::max(result.largest, lanes.largest[lane]);
      result.difference = std::max(result.difference, lanes.difference[lane]);
      expected += double{lanes.expected[lane]};
      differences += double{lanes.differences[lane]};
    }
  }
  const bool nothing = result.largest == 0 && result.difference == 0;
  if (!std::isfinite(expected) || !std::isfinite(differences)) return false;
  if (!nothing && (result.largest < kTiny || result.largest > kHuge || result.difference > kHuge)) return false;
  sums.expected += expected;
  sums.differences += differences;
  sums.elements += length;
  return true;
}

RowResult compare_row(const float* e, const float* a, int64_t length, int64_t row, Sums& sums) {
  RowResult result;
  return compare_plain_row(e, a, length, sums, result) ? result : compare_special_row(e, a, length, row, sums);
}

void add(Sums& to, const Sums& from) {
  to.expected += from.expected;
  to.differences += from.differences;
  to.elements += from.elements;
  if (from.impossible_row < 0 || (to.impossible_row >= 0 && to.impossible_row < from.impossible_row)) return;
  to.impossible_row = from.impossible_row;
  to.impossible_element = from.impossible_element;
  to.impossible_expected = from.impossible_expected;
  to.impossible_actual = from.impossible_actual;
}

/// Compares all rows, several threads at a time.
Sums compare_rows(const Rows& expected, const Rows& actual, size_t element, std::vector<RowResult>& results) {
  constexpr int64_t kRowsPerTask = 256;
  constexpr double kOperationsPerElement = 4;
  const int64_t tasks = (expected.count() + kRowsPerTask - 1) / kRowsPerTask;
  const auto length = static_cast<size_t>(expected.length());
  const bool contiguous = expected.contiguous();
  std::mutex mutex;
  Sums total;
  const auto compare_task = [&](int64_t task) {
    std::vector<float> e(length), a(length);
    Sums sums;
    for (int64_t row = task * kRowsPerTask; row < std::min(expected.count(), (task + 1) * kRowsPerTask); ++row) {
      expected.read(row, e.data());
      const bool same = contiguous && std::memcmp(expected.bytes(row), actual.bytes(row), length * element) == 0;
      if (!same) actual.read(row, a.data());
      results[static_cast<size_t>(row)] =
          compare_row(e.data(), same ? e.data() : a.data(), expected.length(), row, sums);
    }
    const std::lock_guard lock(mutex);
    add(total, sums);
  };
  const double elements = static_cast<double>(expected.count()) * static_cast<double>(expected.length());
  reference::parallel_for(tasks, elements * kOperationsPerElement, compare_task);
  return total;
}

/// Integers, and f64, which kernels only copy.
bool is_exact(hstu_dtype dtype) { return dtype == HSTU_DTYPE_I32 || dtype == HSTU_DTYPE_I64 || dtype >= HSTU_DTYPE_U8; }

/// Distance of neighbouring values where `value` lies.
double step_at(hstu_dtype dtype, float value) {
  const auto [mantissa, lowest] = dtype == HSTU_DTYPE_F32    ? std::pair(23, -126)
                                  : dtype == HSTU_DTYPE_F16  ? std::pair(10, F16::kLowest)
                                  : dtype == HSTU_DTYPE_E4M3 ? std::pair(3, E4m3::kLowest)
                                  : dtype == HSTU_DTYPE_E5M2 ? std::pair(2, E5m2::kLowest)
                                                             : std::pair(7, Bf16::kLowest);
  return std::ldexp(1.0, std::max(value == 0 ? lowest : std::ilogb(value), lowest) - mantissa);
}

/// Of rows that their own size does not excuse, the element that differs by the largest multiple of what it may.
std::string worst_element(const Rows& expected, const Rows& actual, const std::vector<RowResult>& rows, double average,
                          hstu_dtype dtype, const Tolerance& tolerance) {
  std::string worst;
  double most = 1;
  std::vector<float> e(static_cast<size_t>(expected.length())), a(e.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    const double of_row = tolerance.row * std::max<double>(rows[row].largest, 0.1 * average);
    if (static_cast<double>(rows[row].difference) <= of_row) continue;
    expected.read(static_cast<int64_t>(row), e.data());
    actual.read(static_cast<int64_t>(row), a.data());
    for (size_t i = 0; i < e.size(); ++i) {
      if (!is_finite(e[i])) continue;  // equal in both
      const double off = std::fabs(double{e[i]} - double{a[i]});
      if (off <= of_row) continue;
      const double step = step_at(dtype, e[i]), allowed = of_row + tolerance.steps * step;
      if (off <= most * allowed) continue;
      most = allowed > 0 ? off / allowed : std::numeric_limits<double>::infinity();
      worst = fmt::format("row {}, element {}: {} instead of {}, off by {:.2e} ({:.3g} of its steps), allowed {:.2e}",
                          row, i, a[i], e[i], off, off / step, allowed);
    }
  }
  return worst;
}

/// What the sums of a row may differ by, over its largest element.
double row_tolerance(Op op, bool f16) {
  switch (op) {
    case Op::attention_fp8:  // weights of three bits
      return f16 ? 1.5e-2 : 6e-2;
    case Op::attention:  // probabilities of the element type
    case Op::delta_attention:
    case Op::paged_attention:
    case Op::flash_attention:
      return f16 ? 8e-3 : 4e-2;
    case Op::fp8_gemm:  // fast sums
    case Op::gated_fp8_gemm:
      return 1.5e-2;
    case Op::gated_addmm:  // one factor is rounded, now and then to a neighbour
    case Op::norm_addmm:
      return f16 ? 2e-3 : 1e-2;
    default:  // sums in f32, and one special function
      return f16 ? 1e-3 : 4e-3;
  }
}

/// Bits are equal or wrong.
std::string exact_difference(const hstu_tensor& expected, const hstu_tensor& actual) {
  const Rows e(expected), a(actual);
  const int64_t step = expected.rank > 0 ? expected.stride[expected.rank - 1] : 1;
  const auto size = static_cast<size_t>(size_of(expected.dtype));
  for (int64_t row = 0; row < e.count(); ++row)
    for (int64_t i = 0; i < e.length(); ++i) {
      const size_t offset = static_cast<size_t>(i * step) * size;
      if (std::memcmp(e.bytes(row) + offset, a.bytes(row) + offset, size) != 0)
        return fmt::format("row {}, element {} differs", row, i);
    }
  return {};
}

}  // namespace

namespace {

Tolerance tolerance_of_few(Op op, hstu_dtype dtype) {
  if (dtype == HSTU_DTYPE_F32) return {1e-5, 1e-4};  // also of TF32, which rounds factors the same everywhere
  const double row = row_tolerance(op, dtype == HSTU_DTYPE_F16);
  switch (dtype) {
    case HSTU_DTYPE_F16:
      return {4e-3, row, 1};
    case HSTU_DTYPE_E4M3:  // a fifth of the values to a neighbour
      return {4e-2, row, 1};
    case HSTU_DTYPE_E5M2:
      return {8e-2, row, 1};
    default:
      return {2e-2, row, 1};
  }
}

}  // namespace

Tolerance tolerance_of(Op op, hstu_dtype dtype, int64_t terms) {
  Tolerance tolerance = tolerance_of_few(op, dtype);
  // Each may be wrong by 4 * 2^-24 * sqrt(terms) times the root of the squares of all terms, which random sums have as
  // their size.
  const double of_sums = 8 * 0x1p-24 * std::sqrt(static_cast<double>(terms));
  tolerance.frobenius += of_sums;
  tolerance.row += of_sums;
  return tolerance;
}

std::string difference(const hstu_tensor& expected, const hstu_tensor& actual, const Tolerance& tolerance) {
  if (is_exact(expected.dtype)) return exact_difference(expected, actual);
  const Rows e(expected), a(actual);
  std::vector<RowResult> rows(static_cast<size_t>(e.count()));
  const Sums sums = compare_rows(e, a, static_cast<size_t>(size_of(expected.dtype)), rows);
  if (sums.impossible_row >= 0)
    return fmt::format("row {}, element {}: {} instead of {}", sums.impossible_row, sums.impossible_element,
                       sums.impossible_actual, sums.impossible_expected);
  const double average = std::sqrt(sums.expected / static_cast<double>(std::max<int64_t>(sums.elements, 1)));
  const std::string element = worst_element(e, a, rows, average, expected.dtype, tolerance);
  if (!element.empty()) return element;
  const double frobenius = sums.expected > 0 ? std::sqrt(sums.differences / sums.expected)
                                             : (sums.differences > 0 ? std::numeric_limits<double>::infinity() : 0);
  if (!(frobenius <= tolerance.frobenius))
    return fmt::format("relative difference {:.2e} over all elements, allowed {:.1e}", frobenius, tolerance.frobenius);
  return {};
}

bool has_results(const hstu_tensor& t) {
  if (is_exact(t.dtype)) return t.rank == 0 || Rows(t).count() > 0;  // every value is a number
  const Rows rows(t);
  std::vector<float> values(static_cast<size_t>(rows.length()));
  for (int64_t row = 0; row < rows.count(); ++row) {
    rows.read(row, values.data());
    if (std::any_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) return true;
  }
  return false;
}

}  // namespace hstujit
