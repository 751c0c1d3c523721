// What dropout needs at run time, alone and inside other operators; the host derives it from ratio and seed.
#pragma once

namespace hstu {

struct DropoutRate {
  unsigned seed_low, seed_high;
  unsigned threshold;  // an element is dropped if its 31 random bits are below this; at least 1
  float scale;         // of kept elements, 1 / (1 - ratio)
};

// dropout_*: y = kept ? x / (1 - ratio) : 0, by the element's index in row-major order
struct DropoutParams {
  const void* x;  // [rows, dim]
  void* y;        // [rows, dim]
  long long elements;
  long long dim;                         // read only when rows are strided
  long long x_row_stride, y_row_stride;  // likewise
  DropoutRate rate;
};
static_assert(sizeof(DropoutParams) == 64, "host and device disagree about DropoutParams");

}  // namespace hstu
