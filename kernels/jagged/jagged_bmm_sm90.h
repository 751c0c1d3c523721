// The argument struct of jagged_bmm_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out[r] = jagged[r] dense[b] + bias, r in sequence b
struct JaggedBmmTmaParams {
  TensorMap x;       // jagged: boxes of 64 columns x rows of a tile, found as tile/jagged_map.cuh says
  TensorMap w;       // dense: boxes of 64 x the lines of tile/wgmma_operand.cuh; its third dimension is the batch
  TensorMap y, z;    // out, and a bias of its shape: boxes of 64 columns x 16 rows, as x
  const void* bias;  // [batch, n], or null
  const void* seq_offsets;
  long long bias_stride;  // in elements
  long long n, k;
  int batch;
  unsigned tiles_m;  // tiles along the rows, of all sequences
  int matrix_step;   // 0 where all sequences have the same matrix, else 1
  int reserved;
};
static_assert(sizeof(JaggedBmmTmaParams) == 640, "host and device disagree about JaggedBmmTmaParams");

}  // namespace hstu
