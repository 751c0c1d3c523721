#include "operators/checks.hpp"

#include "support/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hstujit::checks {
namespace {

constexpr hstu_status kInvalid = HSTU_ERROR_INVALID_ARGUMENT;
constexpr hstu_status kShape = HSTU_ERROR_SHAPE_MISMATCH;
constexpr hstu_status kDtype = HSTU_ERROR_UNSUPPORTED_DTYPE;

bool add_product(int64_t a, int64_t b, int64_t& sum) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

[[noreturn]] void refuse_header(const char* name, const hstu_tensor& t, int rank) {
  const int dtype = code(t.dtype);
  if (dtype == HSTU_DTYPE_NONE && !t.data && t.rank == 0)
    fail(kInvalid, "{} is absent: it is required; describe it, e.g. with hstu_matrix()", name);
  if (dtype < HSTU_DTYPE_F32 || dtype > HSTU_DTYPE_F64)
    fail(kDtype, "{}.dtype = {}: use one of hstu_dtype, {} to {}", name, dtype, static_cast<int>(HSTU_DTYPE_F32),
         static_cast<int>(HSTU_DTYPE_F64));
  fail(kInvalid, "{}.rank = {}: it must be {}", name, t.rank, rank);
}

[[noreturn]] void refuse_flags(const char* name, const hstu_tensor& t) {
  fail(kInvalid, "{}.flags = {}: it must be 0 or HSTU_STRIDES_GIVEN (1); zero a tensor before its members are set",
       name, t.flags);
}

[[noreturn]] void refuse_sign(const char* name, const hstu_tensor& t) {
  int d = 0;
  while (t.shape[d] >= 0 && t.stride[d] >= 0) ++d;  // ends: one of them is negative
  const bool extent = t.shape[d] < 0;
  fail(kInvalid, "{}.{}[{}] = {}: it must not be negative", name, extent ? "shape" : "stride", d,
       extent ? t.shape[d] : t.stride[d]);
}

/// Strides that are left open, or of dimensions with at most one element, become contiguous ones.
template <int kRank>
void fill_strides(hstu_tensor& t, bool contiguous) {
  uint64_t inner = 1;  // may wrap; then the reach of the strides overflows, too
  for (int d = kRank - 1; d >= 0; --d) {
    if (contiguous || t.shape[d] <= 1) t.stride[d] = static_cast<int64_t>(inner);
    inner = static_cast<uint64_t>(t.stride[d]) * static_cast<uint64_t>(t.shape[d]);
  }
}

/// Extents and strides, which are given from then on; returns the bytes from the first to the last element.
template <int kRank>
int64_t check_layout(const char* name, hstu_tensor& t) {
  int64_t signs = 0, given = 0;
  bool open = false, empty = false;
  for (int d = 0; d < kRank; ++d) {
    signs |= t.shape[d] | t.stride[d];
    given |= t.stride[d];
    open |= t.shape[d] <= 1;
    empty |= t.shape[d] == 0;
  }
  if (signs < 0) refuse_sign(name, t);
  if (t.flags > HSTU_STRIDES_GIVEN) refuse_flags(name, t);
  const bool contiguous = given == 0 && t.flags == 0;
  if (open || contiguous) fill_strides<kRank>(t, contiguous);
  t.flags = HSTU_STRIDES_GIVEN;
  int64_t reach = 1, bytes = 0;
  bool fits = true;
  for (int d = 0; d < kRank; ++d) fits &= add_product(std::max<int64_t>(t.shape[d] - 1, 0), t.stride[d], reach);
  fits &= !__builtin_mul_overflow(reach, element_bytes(t.dtype), &bytes);
  if (!fits) fail(kInvalid, "{}: its extents and strides overflow 64 bits; pass the buffer's real shape", name);
  return empty ? 0 : bytes;
}

void check_data(const char* name, const hstu_tensor& t, int64_t bytes) {
  if (!t.data && bytes > 0)
    fail(kInvalid, "{}.data = NULL: a tensor with elements needs a buffer; make one extent 0 if it is empty", name);
  const auto size = static_cast<uintptr_t>(element_bytes(t.dtype));
  if ((reinterpret_cast<uintptr_t>(t.data) & (size - 1)) != 0)
    fail(kInvalid, "{}.data = {}: it must be aligned to its {}-byte elements", name, t.data, size);
}

const std::byte* begin_of(const Tensor& a) { return static_cast<const std::byte*>(a.t.data); }

/// A tensor as equal runs of bytes, one every `period`, along its outermost dimension in memory.
struct Runs {
  int64_t period = 0, length = 0;
  bool single = true;  ///< one run only: any period will do
};

Runs runs_of(const Tensor& a) {
  int outer = -1;
  for (int d = 0; d < a.t.rank; ++d)
    if (a.t.shape[d] > 1 && a.t.stride[d] > (outer < 0 ? 0 : a.t.stride[outer])) outer = d;
  if (outer < 0 || a.t.rank == 1) return {0, a.bytes, true};
  const int64_t period = a.t.stride[outer] * size_of(a.t.dtype);
  return {period, a.bytes - (a.t.shape[outer] - 1) * period, false};
}

/// True when the runs of both provably interleave without touching: the same period, and room for both in it.
bool interleave(const Tensor& a, const Tensor& b) {
  const Runs x = runs_of(a), y = runs_of(b);
  if (x.single && y.single) return false;
  if (!x.single && !y.single && x.period != y.period) return false;
  const int64_t period = x.single ? y.period : x.period;
  if (period == 0) return false;
  const int64_t offset = (begin_of(b) - begin_of(a)) % period;
  const int64_t start = offset < 0 ? offset + period : offset;
  return start >= x.length && start + y.length <= period;
}

/// The dimension of more than one element with the least stride, apart from those in the set `done`; -1 when none is
/// left.
int innermost(const hstu_tensor& t, unsigned done) {
  int found = -1;
  for (int d = t.rank - 1; d >= 0; --d)
    if (t.shape[d] > 1 && !(done >> d & 1) && (found < 0 || t.stride[d] < t.stride[found])) found = d;
  return found;
}

bool same_view(const hstu_tensor& a, const hstu_tensor& b) {
  return a.data == b.data && a.rank == b.rank && std::equal(a.stride, a.stride + a.rank, b.stride);
}

}  // namespace

void struct_size(size_t given, size_t expected) {
  if (given != expected)
    fail(kInvalid, "struct_size = {}: it must be sizeof the args struct, {}; set it, and build against this release",
         given, expected);
}

template <int kRank>
Tensor required_any_strides(const char* name, hstu_tensor& t) {
  const int dtype = code(t.dtype);
  if (dtype < HSTU_DTYPE_F32 || dtype > HSTU_DTYPE_F64 || t.rank != kRank) refuse_header(name, t, kRank);
  const int64_t bytes = check_layout<kRank>(name, t);
  check_data(name, t, bytes);
  return {name, t, bytes};
}
template Tensor required_any_strides<1>(const char*, hstu_tensor&);
template Tensor required_any_strides<2>(const char*, hstu_tensor&);
template Tensor required_any_strides<3>(const char*, hstu_tensor&);

template <int kRank>
Tensor required(const char* name, hstu_tensor& t) {
  const Tensor checked = required_any_strides<kRank>(name, t);
  if (t.stride[kRank - 1] != 1)
    fail(kInvalid, "{}.stride[{}] = {}: the last stride must be 1; copy the tensor to make it so", name, kRank - 1,
         t.stride[kRank - 1]);
  return checked;
}
template Tensor required<1>(const char*, hstu_tensor&);
template Tensor required<2>(const char*, hstu_tensor&);
template Tensor required<3>(const char*, hstu_tensor&);
template Tensor required<4>(const char*, hstu_tensor&);

bool given(const char* name, hstu_tensor& t) {
  if (code(t.dtype) != HSTU_DTYPE_NONE) return true;
  if (t.data || t.rank != 0)
    fail(kInvalid, "{}.dtype = 0 (none), but data or rank is set: set dtype, or zero the tensor to leave it out", name);
  t = {};
  return false;
}

void refuse_dtype(const Tensor& a, const char* rule) {
  fail(kDtype, "{}.dtype = {}: {}", a.name, name_of(a.t.dtype), rule);
}

void refuse_other_dtype(const Tensor& a, const Tensor& like) {
  fail(kDtype, "{}.dtype = {}: it must be that of {}, {}", a.name, name_of(a.t.dtype), like.name,
       name_of(like.t.dtype));
}

void refuse_extent(const Tensor& a, int dim, int64_t expected, const char* what) {
  fail(kShape, "{}.shape[{}] = {}: it must be {} = {}", a.name, dim, a.t.shape[dim], what, expected);
}

void refuse_size(const Tensor& a, int dim) {
  fail(HSTU_ERROR_UNSUPPORTED, "{}.shape[{}] = {}: kernels cover up to {}; split the call", a.name, dim, a.t.shape[dim],
       INT32_MAX);
}

int64_t product(const Tensor& a, int dim, int other) {
  int64_t rows = 0;
  if (__builtin_mul_overflow(a.t.shape[dim], a.t.shape[other], &rows))
    fail(kInvalid, "{}.shape[{}] = {}: times {}.shape[{}] = {} it overflows 64 bits", a.name, dim, a.t.shape[dim],
         a.name, other, a.t.shape[other]);
  return rows;
}

void require_nesting(const Tensor& out) {
  if (out.bytes == 0) return;
  // From the innermost dimension in memory outwards, each must step over all within.
  unsigned done = 0;
  int64_t reach = 0;
  for (int d; (d = innermost(out.t, done)) >= 0; done |= 1u << d) {
    if (out.t.stride[d] <= reach)
      fail(kInvalid, "{}.stride[{}] = {}: an output must not overlap itself; it must be at least {}", out.name, d,
           out.t.stride[d], reach + 1);
    reach += (out.t.shape[d] - 1) * out.t.stride[d];
  }
}

void require_interleaved(const Tensor& out, const Tensor& in) {
  if (interleave(out, in)) return;
  fail(kInvalid, "{} overlaps {} in memory: give {} a buffer or columns of its own", out.name, in.name, out.name);
}

void disjoint_or_same(const Tensor& out, const Tensor& in) {
  if (!same_view(out.t, in.t)) disjoint(out, in);
}

void not_negative(const char* name, int64_t value, const char* zero_means) {
  if (value < 0) fail(kInvalid, "{} = {}: it must not be negative; {}", name, value, zero_means);
}

void embedded_size(const char* name, size_t given, size_t expected) {
  if (given != 0 && given != expected)
    fail(kInvalid, "{} = {}: it must be 0 or sizeof the struct, {}; build against this release", name, given, expected);
}

void element_size(const char* name, size_t given, size_t expected) {
  if (given != expected)
    fail(kInvalid, "{} = {}: it must be sizeof an element, {}; set it, and build against this release", name, given,
         expected);
}

void flag(const char* name, int64_t value) {
  if (value != 0 && value != 1) fail(kInvalid, "{} = {}: it must be 0 or 1", name, value);
}

void check_eps(double value) {
  if (!(value >= 0) || !std::isfinite(value))
    fail(kInvalid, "eps = {}: it must be finite and not negative; 0 means the default", value);
}

void finite(const char* name, double value) {
  if (!std::isfinite(value)) fail(kInvalid, "{} = {}: it must be finite; 0 means the default", name, value);
}

}  // namespace hstujit::checks
