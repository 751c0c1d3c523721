#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> fp8_problems() {
  static constexpr std::string_view kProblems[] = {
      "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=1024 vector=16 static=0 power_of_two=0 rows=131072",
      "quantize_fp8 dtype=bf16 fp8=e5m2 scaling=1 columns=512 vector=16 static=0 power_of_two=1 rows=65536",
      "quantize_fp8 dtype=f32 fp8=e4m3 scaling=1 columns=70001 vector=1 static=0 power_of_two=0 rows=64",
      "quantize_fp8 dtype=f16 fp8=e4m3 scaling=1 columns=0 vector=16 static=0 power_of_two=0 rows=64",
      "quantize_fp8 dtype=f16 fp8=e4m3 scaling=3 columns=130 vector=2 static=0 power_of_two=0 rows=4096",
      "quantize_fp8 dtype=f32 fp8=e4m3 scaling=3 columns=512 vector=8 static=0 power_of_two=0 rows=4096",
      "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=333 vector=1 static=0 power_of_two=0 rows=128",
      "quantize_fp8 dtype=bf16 fp8=e4m3 scaling=0 columns=1024 vector=16 static=0 power_of_two=0 rows=65536",
      "quantize_fp8 dtype=f32 fp8=e5m2 scaling=0 columns=7 vector=1 static=1 power_of_two=0 rows=64",
      "dequantize_fp8 dtype=bf16 fp8=e4m3 scaling=2 columns=1024 vector=16 rows=131072",
      "dequantize_fp8 dtype=f16 fp8=e5m2 scaling=1 columns=100 vector=4 rows=128",
      "dequantize_fp8 dtype=f32 fp8=e4m3 scaling=3 columns=512 vector=8 rows=128",
      "dequantize_fp8 dtype=f32 fp8=e4m3 scaling=0 columns=33 vector=1 rows=128",
      "fp8_amax dtype=bf16 columns=1024 vector=8 dense=1 rows=131072",
      "fp8_amax dtype=f32 columns=33 vector=1 dense=0 rows=128",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=2 scaling_b=3 bias=0 bias_dtype=none "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=0 bias_dtype=none "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=1 split=0 m=65536",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=4096 k=1024 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=2 scaling_b=3 bias=1 bias_dtype=bf16 "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536",
      "fp8_gemm dtype=f16 dtype_a=e5m2 dtype_b=e4m3 n=2048 k=2048 scaling_a=0 scaling_b=0 bias=0 bias_dtype=none "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=8192",
      "fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e5m2 n=333 k=77 scaling_a=2 scaling_b=2 bias=1 bias_dtype=f32 "
      "activation=0 act_columns=0 vector_a=1 vector_b=1 vector_out=1 fast=0 split=0 m=128",
      "fp8_gemm dtype=f32 dtype_a=e5m2 dtype_b=e5m2 n=2048 k=2048 scaling_a=2 scaling_b=2 bias=0 bias_dtype=none "
      "activation=0 act_columns=0 vector_a=8 vector_b=4 vector_out=4 fast=0 split=0 m=8192",
      // A layer's projections: parts behind SiLU of the first columns, and a residual.
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=0 split=64 m=131072",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=2 bias_dtype=bf16 "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=131072",
      "fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=512 scaling_a=2 scaling_b=3 bias=2 bias_dtype=f16 "
      "activation=1 act_columns=100 vector_a=16 vector_b=16 vector_out=8 fast=0 split=64 m=131072",
      "fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e5m2 n=130 k=77 scaling_a=0 scaling_b=1 bias=2 bias_dtype=f32 "
      "activation=1 act_columns=65 vector_a=1 vector_b=1 vector_out=1 fast=0 split=1 m=128",
      // Results in FP8.
      "fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=16 fast=0 split=64 m=65536",
      "fp8_gemm dtype=e5m2 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=2 scaling_b=3 bias=2 bias_dtype=f32 "
      "activation=3 act_columns=100 vector_a=16 vector_b=16 vector_out=1 fast=0 split=0 m=65536",
      // A bias row and a residual: each schedule, both generations, in parts, in FP8.
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=3 bias_dtype=bf16 "
      "activation=0 act_columns=0 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=3 bias_dtype=bf16 "
      "activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072",
      "fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=3 bias_dtype=f32 "
      "activation=3 act_columns=2000 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=512 k=512 scaling_a=2 scaling_b=3 bias=3 bias_dtype=bf16 "
      "activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536",
      "fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e5m2 n=130 k=77 scaling_a=0 scaling_b=1 bias=3 bias_dtype=bf16 "
      "activation=1 act_columns=65 vector_a=1 vector_b=1 vector_out=1 fast=0 split=1 m=128",
      "fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=3 bias_dtype=f32 "
      "activation=1 act_columns=512 vector_a=16 vector_b=16 vector_out=16 fast=0 split=0 residual_dtype=bf16 m=65536",
      "fp8_gemm dtype=e5m2 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=2 scaling_b=3 bias=3 bias_dtype=bf16 "
      "activation=3 act_columns=100 vector_a=16 vector_b=16 vector_out=1 fast=0 split=0 residual_dtype=f32 m=65536",
      // GELU.
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=2048 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=3 act_columns=2048 vector_a=16 vector_b=16 vector_out=8 fast=1 split=0 m=65536",
      "fp8_gemm dtype=f16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=f32 "
      "activation=3 act_columns=2000 vector_a=16 vector_b=16 vector_out=8 fast=0 split=0 m=65536",
      "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n=2048 k=512 scaling_a=1 scaling_b=1 bias=1 bias_dtype=bf16 "
      "activation=4 act_columns=512 vector_a=16 vector_b=16 vector_out=8 fast=1 split=64 m=131072",
      "fp8_gemm dtype=f32 dtype_a=e4m3 dtype_b=e4m3 n=512 k=1536 scaling_a=1 scaling_b=1 bias=2 bias_dtype=f32 "
      "activation=3 act_columns=512 vector_a=16 vector_b=16 vector_out=4 fast=0 split=0 m=65536",
      "gated_fp8_gemm dtype=bf16 weight_dtype=bf16 dim=512 n=512 parts=4 residual=1 vector=8 vector_w=16 m=131072",
      "gated_fp8_gemm dtype=f16 weight_dtype=f32 dim=512 n=256 parts=2 residual=0 vector=8 vector_w=16 m=4096",
      "gated_fp8_gemm dtype=bf16 weight_dtype=f32 dim=1024 n=1024 parts=16 residual=1 vector=8 vector_w=16 m=65536",
      "gated_fp8_gemm dtype=f16 weight_dtype=f16 dim=384 n=768 parts=8 residual=1 vector=8 vector_w=16 m=65536",
  };
  return kProblems;
}

}  // namespace hstujit::test
