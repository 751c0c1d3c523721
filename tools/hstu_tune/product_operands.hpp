// Operands of matrix products on the device of a benchmark, filled with random data; they live as long as the object.
#pragma once

#include "hstu_tune/bench.hpp"
#include "operators/operators.hpp"
#include "workload/memory.hpp"

#include <hstujit/hstujit.h>

#include <memory>
#include <string>

namespace hstujit::tool {

class ProductOperands {
 public:
  explicit ProductOperands(BenchRun& bench);

  void* space(int64_t bytes) { return memory_->allocate(static_cast<size_t>(bytes)); }
  hstu_tensor row(hstu_dtype dtype, int64_t columns);
  hstu_tensor matrix(hstu_dtype dtype, int64_t rows, int64_t columns, float deviation = 1);
  /// f32 near 1, of the shape that the scaling asks for.
  hstu_tensor descale(hstu_fp8_scaling scaling, int64_t rows, int64_t columns);

  /// z = x w in bf16; with x and z of another call, only w is new.
  hstu_addmm_args addmm(int64_t m, int64_t k, int64_t n, const hstu_addmm_args* shared = nullptr);
  /// In E4M3 to bf16; with all but the scales of another call.
  hstu_fp8_gemm_args fp8_gemm(int64_t m, int64_t k, int64_t n, hstu_fp8_scaling a, hstu_fp8_scaling b,
                              const hstu_fp8_gemm_args* shared = nullptr);

  /// Compiles and loads what the call needs; gives its kernel's family.
  template <class Args>
  std::string ready(const Args& args) {
    Args prepared = args;
    return std::string(bench_.context().plan_for(prepare(prepared), nullptr, nullptr).choice.family->name);
  }
  void run(const hstu_addmm_args& args, CUstream stream) const { check(hstu_addmm(bench_.host.get(), &args, stream)); }
  void run(const hstu_fp8_gemm_args& args, CUstream stream) const {
    check(hstu_fp8_gemm(bench_.host.get(), &args, stream));
  }
  void run(const hstu_layer_norm_args& args, CUstream stream) const {
    check(hstu_layer_norm(bench_.host.get(), &args, stream));
  }
  void run(const hstu_quantize_fp8_args& args, CUstream stream) const {
    check(hstu_quantize_fp8(bench_.host.get(), &args, stream));
  }
  void copy(void* to, const void* from, size_t bytes, CUstream stream) const;

 private:
  /// Throws Error with the library's text.
  static void check(hstu_status status);
  void* random(hstu_dtype dtype, int64_t elements, float mean, float deviation);

  BenchRun& bench_;
  const std::unique_ptr<Memory> memory_;
  uint64_t seed_ = 1;
};

}  // namespace hstujit::tool
