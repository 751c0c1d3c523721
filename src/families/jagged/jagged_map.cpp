#include "families/jagged/jagged_map.hpp"

#include "operators/checks.hpp"

namespace hstujit {

TensorMapSpec jagged_map(const hstu_tensor& t, int rows) {
  const auto element = static_cast<uint64_t>(checks::element_bytes(t.dtype));
  const auto columns = static_cast<uint64_t>(t.shape[t.rank - 1]);
  // A single row needs no stride, but the map does.
  const uint64_t pitch =
      t.shape[0] > 1 ? static_cast<uint64_t>(t.stride[0]) * element : (columns * element + 15) / 16 * 16;
  TensorMapSpec spec;
  spec.base = t.data;
  spec.dtype = t.dtype;
  spec.rank = 5;
  spec.extent[0] = columns;
  spec.extent[1] = uint64_t{1} << 30;
  spec.extent[2] = spec.extent[3] = (uint64_t{1} << 31) - 1;
  spec.extent[4] = t.rank == 3 ? static_cast<uint64_t>(t.shape[1]) : 1;
  spec.stride[0] = spec.stride[1] = pitch;
  spec.stride[2] = (uint64_t{1} << 34) - pitch;
  spec.stride[3] = t.rank == 3 ? static_cast<uint64_t>(t.stride[1]) * element : pitch;
  spec.box[0] = static_cast<uint32_t>(128 / element);
  spec.box[1] = static_cast<uint32_t>(rows);
  spec.box[2] = spec.box[3] = spec.box[4] = 1;
  return spec;
}

TensorMapSpec bias_map(const hstu_tensor& rab, int rows) {
  const auto element = static_cast<uint64_t>(checks::element_bytes(rab.dtype));
  TensorMapSpec spec;
  spec.base = rab.data;
  spec.dtype = rab.dtype;
  spec.rank = 4;
  for (int i = 0; i < 4; ++i) spec.extent[i] = static_cast<uint64_t>(rab.shape[3 - i]);
  // A dimension of one index needs no stride, but the map does.
  for (int i = 0; i < 3; ++i)
    spec.stride[i] = spec.extent[i + 1] > 1 ? static_cast<uint64_t>(rab.stride[2 - i]) * element : 16;
  spec.box[0] = static_cast<uint32_t>(128 / element);
  spec.box[1] = static_cast<uint32_t>(rows);
  spec.box[2] = spec.box[3] = 1;
  return spec;
}

TensorMapSpec paged_map(const hstu_tensor& t, int rows) {
  const hstu_tensor slots{t.data,
                          t.dtype,
                          3,
                          0,
                          {t.shape[0] * t.shape[1], t.shape[2], t.shape[3]},
                          {t.stride[1], t.stride[2], t.stride[3]}};
  return jagged_map(slots, rows);
}

}  // namespace hstujit
