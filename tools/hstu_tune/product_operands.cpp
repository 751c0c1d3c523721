#include "hstu_tune/product_operands.hpp"

#include "operators/operators.hpp"
#include "support/error.hpp"
#include "workload/stack.hpp"

#include <cmath>

namespace hstujit::tool {
namespace {

hstu_tensor tensor(hstu_dtype dtype, void* data, std::initializer_list<int64_t> shape) {
  hstu_tensor t{};
  t.data = data;
  t.dtype = dtype;
  for (const int64_t extent : shape) t.shape[t.rank++] = extent;
  return t;
}

}  // namespace

ProductOperands::ProductOperands(BenchRun& bench)
    : bench_(bench), memory_(gpu_memory(bench.driver(), ordinal_of(bench.device))) {}

void ProductOperands::check(hstu_status status) {
  if (status != HSTU_OK) throw Error(status, hstu_last_error());
}

void* ProductOperands::random(hstu_dtype dtype, int64_t elements, float mean, float deviation) {
  Calls calls;
  calls.buffers.push_back({"operand", dtype, elements, Buffer::Content::random, mean, deviation, {}});
  return Stack(calls, *memory_, seed_++).base("operand");
}

hstu_tensor ProductOperands::row(hstu_dtype dtype, int64_t columns) {
  return tensor(dtype, random(dtype, columns, 0, 1), {columns});
}
hstu_tensor ProductOperands::matrix(hstu_dtype dtype, int64_t rows, int64_t columns, float deviation) {
  return tensor(dtype, random(dtype, rows * columns, 0, deviation), {rows, columns});
}

hstu_tensor ProductOperands::descale(hstu_fp8_scaling scaling, int64_t rows, int64_t columns) {
  const int64_t across = (columns + 127) / 128, down = scaling == HSTU_FP8_BLOCK ? (rows + 127) / 128 : rows;
  if (scaling == HSTU_FP8_ROW) return tensor(HSTU_DTYPE_F32, random(HSTU_DTYPE_F32, rows, 1, 0.125f), {rows});
  return tensor(HSTU_DTYPE_F32, random(HSTU_DTYPE_F32, down * across, 1, 0.125f), {down, across});
}

hstu_addmm_args ProductOperands::addmm(int64_t m, int64_t k, int64_t n, const hstu_addmm_args* shared) {
  hstu_addmm_args args{};
  if (shared) args = *shared;
  args.struct_size = sizeof args;
  args.w = matrix(HSTU_DTYPE_BF16, k, n, 1 / std::sqrt(static_cast<float>(k)));
  if (shared) return args;
  args.x = matrix(HSTU_DTYPE_BF16, m, k);
  args.out = tensor(HSTU_DTYPE_BF16, space(m * n * 2), {m, n});
  return args;
}

hstu_fp8_gemm_args ProductOperands::fp8_gemm(int64_t m, int64_t k, int64_t n, hstu_fp8_scaling a, hstu_fp8_scaling b,
                                             const hstu_fp8_gemm_args* shared) {
  hstu_fp8_gemm_args args{};
  if (shared) args = *shared;
  args.struct_size = sizeof args;
  args.x_scaling = a;
  args.w_scaling = b;
  args.x_descale = descale(a, m, k);
  args.w_descale = descale(b, n, k);
  if (shared) return args;
  args.x = matrix(HSTU_DTYPE_E4M3, m, k);
  args.w = matrix(HSTU_DTYPE_E4M3, n, k);
  args.out = tensor(HSTU_DTYPE_BF16, space(m * n * 2), {m, n});
  return args;
}

void ProductOperands::copy(void* to, const void* from, size_t bytes, CUstream stream) const {
  bench_.driver().check(bench_.driver().cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to),
                                                          reinterpret_cast<CUdeviceptr>(from), bytes, stream),
                        "copying");
}

}  // namespace hstujit::tool
