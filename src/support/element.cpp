#include "support/element.hpp"

#include "support/to_integer.hpp"

namespace hstujit {
namespace {

template <class Element, class Widen>
void load_as(const hstu_tensor& t, int64_t offset, int64_t count, double* out, Widen widen) {
  const Element* in = static_cast<const Element*>(t.data) + offset;
  for (int64_t i = 0; i < count; ++i) out[i] = widen(in[i]);
}

template <class Element, class Round>
void store_as(const hstu_tensor& t, int64_t offset, int64_t count, const double* in, Round round) {
  Element* out = static_cast<Element*>(t.data) + offset;
  for (int64_t i = 0; i < count; ++i) out[i] = round(in[i]);
}

template <class Element>
double widen_integer(Element value) {
  return static_cast<double>(value);
}

/// NaN becomes 0, and what lies beyond the type its nearest end.
template <class Element>
Element round_integer(double value) {
  return to_nearest_integer<Element>(value);
}

}  // namespace

void load_other(const hstu_tensor& t, int64_t offset, int64_t count, double* out) {
  switch (t.dtype) {
    case HSTU_DTYPE_I32:
      return load_as<int32_t>(t, offset, count, out, widen_integer<int32_t>);
    case HSTU_DTYPE_I64:
      return load_as<int64_t>(t, offset, count, out, widen_integer<int64_t>);
    case HSTU_DTYPE_E4M3:
      return load_as<uint8_t>(t, offset, count, out, E4m3::widen);
    case HSTU_DTYPE_E5M2:
      return load_as<uint8_t>(t, offset, count, out, E5m2::widen);
    case HSTU_DTYPE_U8:
      return load_as<uint8_t>(t, offset, count, out, widen_integer<uint8_t>);
    case HSTU_DTYPE_I16:
      return load_as<int16_t>(t, offset, count, out, widen_integer<int16_t>);
    case HSTU_DTYPE_F64:
      return load_as<double>(t, offset, count, out, [](double value) { return value; });
    default:
      break;  // no tensor, no elements
  }
}

void store_other(const hstu_tensor& t, int64_t offset, int64_t count, const double* in) {
  switch (t.dtype) {
    case HSTU_DTYPE_I32:
      return store_as<int32_t>(t, offset, count, in, round_integer<int32_t>);
    case HSTU_DTYPE_I64:
      return store_as<int64_t>(t, offset, count, in, round_integer<int64_t>);
    case HSTU_DTYPE_E4M3:
      return store_as<uint8_t>(t, offset, count, in, E4m3::round);
    case HSTU_DTYPE_E5M2:
      return store_as<uint8_t>(t, offset, count, in, E5m2::round);
    case HSTU_DTYPE_U8:
      return store_as<uint8_t>(t, offset, count, in, round_integer<uint8_t>);
    case HSTU_DTYPE_I16:
      return store_as<int16_t>(t, offset, count, in, round_integer<int16_t>);
    case HSTU_DTYPE_F64:
      return store_as<double>(t, offset, count, in, [](double value) { return value; });
    default:
      break;
  }
}

}  // namespace hstujit
