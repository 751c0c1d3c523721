// A tensor map: 128 opaque bytes that the driver encodes (src/cuda/tensor_map.hpp) and the copy engine of sm_90 reads.
// A kernel takes it inside its __grid_constant__ argument struct and passes its address to the copies of prim/tma.cuh.
#pragma once

namespace hstu {

struct alignas(128) TensorMap {
  unsigned long long words[16];
};
static_assert(sizeof(TensorMap) == 128, "host and device disagree about TensorMap");

}  // namespace hstu
