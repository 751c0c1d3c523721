// The vendor's matrix product, as a yardstick for benchmarks: cuBLASLt opened at run time where it is installed.
#pragma once

#include <hstujit/hstujit.h>

#include <cuda.h>

#include <memory>

namespace hstujit::tool {

/// z[m, n] = x[m, k] w[k, n] (+ bias[n]) in a 16-bit type with f32 accumulation, all row-major, planned once; or of
/// E4M3 operands, w stored [n, k], with z in bf16.
class CublasLtProduct {
 public:
  /// Null where libcublasLt cannot be opened. Plans with the library's own heuristic and 32 MiB of workspace.
  static std::unique_ptr<CublasLtProduct> create(hstu_dtype dtype, int64_t m, int64_t n, int64_t k, bool bias);

  /// Of E4M3, without its fast accumulation, as torch._scaled_mm asks for it. row_scales: a descale for each row of x
  /// and of w (its outer-vector mode); else one each for the tensors. Throws Error{UNSUPPORTED} where the library
  /// refuses.
  static std::unique_ptr<CublasLtProduct> create_fp8(int64_t m, int64_t n, int64_t k, bool row_scales);

  virtual ~CublasLtProduct() = default;
  /// FP8: where the descales are, f32 on the device; before the first run.
  virtual void set_descales(const void* x, const void* w) = 0;
  /// Queues one product; throws Error{DEVICE} when the library refuses.
  virtual void run(const void* x, const void* w, const void* bias, void* z, void* workspace, CUstream stream) = 0;

  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;
};

}  // namespace hstujit::tool
