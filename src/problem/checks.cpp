#include "problem/checks.hpp"

#include "support/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hstujit::checks {
namespace {

constexpr hstu_status kInvalid = HSTU_ERROR_INVALID_ARGUMENT;
constexpr hstu_status kShape = HSTU_ERROR_SHAPE_MISMATCH;
constexpr hstu_status kDtype = HSTU_ERROR_UNSUPPORTED_DTYPE;

bool add_product(int64_t a, int64_t b, int64_t& sum) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

void check_header(const char* name, const hstu_tensor& t, int rank) {
  const int dtype = code(t.dtype);
  if (dtype == HSTU_DTYPE_NONE && !t.data && t.rank == 0)
    fail(kInvalid, "{} is absent: it is required; describe it, e.g. with hstu_matrix()", name);
  if (dtype < HSTU_DTYPE_F32 || dtype > HSTU_DTYPE_I64)
    fail(kDtype, "{}.dtype = {}: use one of hstu_dtype, {} to {}", name, dtype, static_cast<int>(HSTU_DTYPE_F32),
         static_cast<int>(HSTU_DTYPE_I64));
  if (t.rank != rank) fail(kInvalid, "{}.rank = {}: it must be {}", name, t.rank, rank);
}

/// True when the caller left all strides zero, that is, contiguous.
bool check_extents(const char* name, const hstu_tensor& t) {
  bool contiguous = true;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[d] < 0) fail(kInvalid, "{}.shape[{}] = {}: it must not be negative", name, d, t.shape[d]);
    if (t.stride[d] < 0) fail(kInvalid, "{}.stride[{}] = {}: it must not be negative", name, d, t.stride[d]);
    contiguous &= t.stride[d] == 0;
  }
  return contiguous;
}

/// Strides that are left open become contiguous ones. Returns the distance from the first to the last element.
int64_t fill_strides(const char* name, hstu_tensor& t) {
  const bool contiguous = check_extents(name, t);
  int64_t inner = 1, reach = 0, elements = 1;
  bool fits = true;
  for (int d = t.rank - 1; d >= 0; --d) {
    if (contiguous || t.shape[d] <= 1) t.stride[d] = inner;
    fits &= !__builtin_mul_overflow(t.stride[d], t.shape[d], &inner);
    fits &= !__builtin_mul_overflow(elements, t.shape[d], &elements);
    fits &= add_product(std::max<int64_t>(t.shape[d] - 1, 0), t.stride[d], reach);
  }
  if (!fits || reach >= std::numeric_limits<int64_t>::max() / size_of(t.dtype))
    fail(kInvalid, "{}: its extents and strides overflow 64 bits; pass the buffer's real shape", name);
  return elements == 0 ? -1 : reach;
}

void check_data(const char* name, const hstu_tensor& t, int64_t bytes) {
  if (!t.data && bytes > 0)
    fail(kInvalid, "{}.data = NULL: a tensor with elements needs a buffer; make one extent 0 if it is empty", name);
  if (reinterpret_cast<uintptr_t>(t.data) % static_cast<uintptr_t>(size_of(t.dtype)) != 0)
    fail(kInvalid, "{}.data = {}: it must be aligned to its {}-byte elements", name, t.data, size_of(t.dtype));
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
    if (a.t.shape[d] > 1 && (outer < 0 || a.t.stride[d] > a.t.stride[outer])) outer = d;
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

Tensor required_any_strides(const char* name, hstu_tensor& t, int rank) {
  check_header(name, t, rank);
  const int64_t bytes = (fill_strides(name, t) + 1) * size_of(t.dtype);
  check_data(name, t, bytes);
  return {name, t, bytes};
}

Tensor required(const char* name, hstu_tensor& t, int rank) {
  const Tensor checked = required_any_strides(name, t, rank);
  if (t.stride[rank - 1] != 1)
    fail(kInvalid, "{}.stride[{}] = {}: the last stride must be 1; copy the tensor to make it so", name, rank - 1,
         t.stride[rank - 1]);
  return checked;
}

bool given(const char* name, const hstu_tensor& t) {
  if (code(t.dtype) != HSTU_DTYPE_NONE) return true;
  if (t.data || t.rank != 0)
    fail(kInvalid, "{}.dtype = 0 (none), but data or rank is set: set dtype, or zero the tensor to leave it out", name);
  return false;
}

void floating(const Tensor& a) {
  if (a.t.dtype > HSTU_DTYPE_BF16) fail(kDtype, "{}.dtype = {}: use f32, f16 or bf16", a.name, name_of(a.t.dtype));
}

void integer(const Tensor& a) {
  if (a.t.dtype < HSTU_DTYPE_I32) fail(kDtype, "{}.dtype = {}: use i32 or i64", a.name, name_of(a.t.dtype));
}

void is_f32(const Tensor& a) {
  if (a.t.dtype != HSTU_DTYPE_F32) fail(kDtype, "{}.dtype = {}: it must be f32", a.name, name_of(a.t.dtype));
}

void same_dtype(const Tensor& a, const Tensor& like) {
  if (a.t.dtype != like.t.dtype)
    fail(kDtype, "{}.dtype = {}: it must be that of {}, {}", a.name, name_of(a.t.dtype), like.name,
         name_of(like.t.dtype));
}

void extent(const Tensor& a, int dim, int64_t expected, const char* what) {
  if (a.t.shape[dim] != expected)
    fail(kShape, "{}.shape[{}] = {}: it must be {} = {}", a.name, dim, a.t.shape[dim], what, expected);
}

void same_shape(const Tensor& a, const Tensor& like) {
  for (int d = 0; d < like.t.rank; ++d)
    if (a.t.shape[d] != like.t.shape[d])
      fail(kShape, "{}.shape[{}] = {}: it must be that of {}, {}", a.name, d, a.t.shape[d], like.name, like.t.shape[d]);
}

int32_t field(const Tensor& a, int dim) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (a.t.shape[dim] > kLargest)
    fail(HSTU_ERROR_UNSUPPORTED, "{}.shape[{}] = {}: kernels cover up to {}; split the call", a.name, dim,
         a.t.shape[dim], kLargest);
  return static_cast<int32_t>(a.t.shape[dim]);
}

void no_self_overlap(const Tensor& out) {
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

void disjoint(const Tensor& out, const Tensor& in) {
  if (out.bytes == 0 || in.bytes == 0) return;
  if (begin_of(out) + out.bytes <= begin_of(in) || begin_of(in) + in.bytes <= begin_of(out)) return;
  if (interleave(out, in)) return;
  fail(kInvalid, "{} overlaps {} in memory: give {} a buffer or columns of its own", out.name, in.name, out.name);
}

void disjoint_or_same(const Tensor& out, const Tensor& in) {
  if (!same_view(out.t, in.t)) disjoint(out, in);
}

void not_negative(const char* name, int64_t value, const char* zero_means) {
  if (value < 0) fail(kInvalid, "{} = {}: it must not be negative; {}", name, value, zero_means);
}

void flag(const char* name, int32_t value) {
  if (value != 0 && value != 1) fail(kInvalid, "{} = {}: it must be 0 or 1", name, value);
}

float eps(float value) {
  if (!(value >= 0) || !std::isfinite(value))
    fail(kInvalid, "eps = {}: it must be finite and not negative; 0 means 1e-5", value);
  return value == 0 ? 1e-5f : value;
}

void finite(const char* name, float value) {
  if (!std::isfinite(value)) fail(kInvalid, "{} = {}: it must be finite; 0 means the default", name, value);
}

}  // namespace hstujit::checks
