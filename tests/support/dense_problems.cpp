#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> dense_problems() {
  static constexpr std::string_view kProblems[] = {
      "addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 x_transposed=0 "
      "weight_transposed=0 "
      "vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 "
      "weight_transposed=1 "
      "vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16384",
      "addmm dtype=bf16 n=130 k=67 bias=1 bias_dtype=f32 activation=1 act_columns=65 x_transposed=0 "
      "weight_transposed=0 "
      "vector_x=1 vector_w=2 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=128",
      "addmm dtype=bf16 n=512 k=512 bias=2 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=1 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f16 n=500 k=100 bias=2 bias_dtype=f16 activation=1 act_columns=500 x_transposed=0 "
      "weight_transposed=1 vector_x=0 vector_w=0 vector_z=4 gather_y=1 allow_tf32=0 split=0 m=4096",
      "addmm dtype=f32 n=2048 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 "
      "weight_transposed=0 vector_x=4 vector_w=4 vector_z=4 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f32 n=33 k=31 bias=2 bias_dtype=f32 activation=0 act_columns=0 x_transposed=1 "
      "weight_transposed=1 vector_x=1 vector_w=1 vector_z=1 gather_y=1 allow_tf32=1 split=0 m=8",
      // GELU, beside as many accumulators as there are.
      "addmm dtype=bf16 n=2048 k=2048 bias=1 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 "
      "weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f16 n=2048 k=512 bias=1 bias_dtype=f16 activation=3 act_columns=500 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f16 n=1024 k=1536 bias=2 bias_dtype=f16 activation=4 act_columns=1000 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f32 n=2048 k=512 bias=2 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 "
      "weight_transposed=0 vector_x=4 vector_w=4 vector_z=4 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=bf16 n=512 k=2048 bias=2 bias_dtype=bf16 activation=3 act_columns=100 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16",
      // Results in FP8.
      "addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=3 act_columns=500 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=64 z_dtype=e4m3 m=65536",
      "addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 "
      "weight_transposed=1 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e5m2 m=65536",
      "addmm dtype=f32 n=2048 k=512 bias=2 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 "
      "weight_transposed=0 vector_x=4 vector_w=4 vector_z=1 gather_y=0 allow_tf32=0 split=1 z_dtype=e4m3 m=65536",
      // Few rows; few tiles of a long k.
      "addmm dtype=bf16 n=512 k=512 bias=1 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16",
      "addmm dtype=f16 n=4096 k=1024 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 "
      "weight_transposed=1 vector_x=8 vector_w=8 vector_z=2 gather_y=0 allow_tf32=0 split=0 m=64",
      "addmm dtype=bf16 n=512 k=65536 bias=0 bias_dtype=none activation=0 act_columns=0 x_transposed=1 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=512",
      // A bias row and a residual: aligned, gathered, in f32, of few rows, of few tiles, in FP8, in parts.
      "addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=0 act_columns=0 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=f16 n=2048 k=512 bias=3 bias_dtype=f32 activation=3 act_columns=500 x_transposed=0 "
      "weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536",
      "addmm dtype=bf16 n=500 k=100 bias=3 bias_dtype=bf16 activation=1 act_columns=500 x_transposed=0 "
      "weight_transposed=1 vector_x=0 vector_w=0 vector_z=4 gather_y=1 allow_tf32=0 split=0 m=4096",
      "addmm dtype=f32 n=2048 k=512 bias=3 bias_dtype=f32 activation=3 act_columns=2048 x_transposed=0 "
      "weight_transposed=0 vector_x=4 vector_w=4 vector_z=4 gather_y=0 allow_tf32=0 split=0 m=65536",
      "addmm dtype=bf16 n=512 k=512 bias=3 bias_dtype=f32 activation=1 act_columns=512 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=16",
      "addmm dtype=f16 n=4096 k=4096 bias=3 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 "
      "weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64",
      "addmm dtype=bf16 n=512 k=1536 bias=3 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=16 gather_y=0 allow_tf32=0 split=0 z_dtype=e4m3 m=65536",
      "addmm dtype=bf16 n=130 k=67 bias=3 bias_dtype=bf16 activation=1 act_columns=65 x_transposed=0 "
      "weight_transposed=0 vector_x=1 vector_w=2 vector_z=1 gather_y=0 allow_tf32=0 split=1 m=128",
      // Several outputs, cut at whole boxes and anywhere.
      "addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 x_transposed=0 "
      "weight_transposed=0 vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=64 m=65536",
      "addmm dtype=f16 n=130 k=67 bias=2 bias_dtype=f16 activation=0 act_columns=0 x_transposed=0 "
      "weight_transposed=0 vector_x=1 vector_w=2 vector_z=1 gather_y=0 allow_tf32=0 split=1 m=128",
      "gated_mlp dtype=bf16 n=2048 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 "
      "vector_w=8 vector_out=8 allow_tf32=0 m=65536",
      "gated_mlp dtype=f16 n=2048 k=512 activation=3 activate_gate=0 x_transposed=1 weight_transposed=0 vector_x=8 "
      "vector_w=8 vector_out=8 allow_tf32=0 m=4096",
      "gated_mlp dtype=bf16 n=77 k=33 activation=4 activate_gate=0 x_transposed=0 weight_transposed=1 vector_x=0 "
      "vector_w=0 vector_out=1 allow_tf32=0 m=128",
      "gated_mlp dtype=f32 n=512 k=256 activation=3 activate_gate=0 x_transposed=0 weight_transposed=1 vector_x=4 "
      "vector_w=4 vector_out=4 allow_tf32=0 m=4096",
      "gated_mlp dtype=f32 n=512 k=256 activation=1 activate_gate=1 x_transposed=0 weight_transposed=0 vector_x=4 "
      "vector_w=4 vector_out=4 allow_tf32=1 m=64",
      "gated_mlp dtype=bf16 n=1024 k=512 activation=1 activate_gate=1 x_transposed=0 weight_transposed=1 vector_x=8 "
      "vector_w=8 vector_out=16 allow_tf32=0 out_dtype=e4m3 m=65536",
      "gated_mlp dtype=f32 n=500 k=256 activation=4 activate_gate=0 x_transposed=0 weight_transposed=0 vector_x=4 "
      "vector_w=4 vector_out=1 allow_tf32=0 out_dtype=e5m2 m=4096",
      "gated_addmm dtype=bf16 weight_dtype=bf16 dim=512 n=512 parts=4 residual=1 weight_transposed=0 vector=8 "
      "vector_w=8 "
      "m=131072",
      "gated_addmm dtype=f16 weight_dtype=f32 dim=512 n=256 parts=1 residual=0 weight_transposed=1 vector=8 vector_w=8 "
      "m=4096",
      "gated_addmm dtype=bf16 weight_dtype=f32 dim=1024 n=1024 parts=16 residual=1 weight_transposed=0 vector=8 "
      "vector_w=8 m=65536",
      "gated_addmm dtype=bf16 weight_dtype=f32 dim=1024 n=384 parts=16 residual=1 weight_transposed=0 vector=8 "
      "vector_w=8 m=65536",
      "gated_addmm dtype=bf16 weight_dtype=bf16 dim=64 n=128 parts=2 residual=1 weight_transposed=1 vector=8 "
      "vector_w=8 "
      "m=131072",
      "norm_addmm dtype=bf16 weight_dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 "
      "weight_transposed=0 vector=8 vector_w=8 split=64 m=131072",
      "norm_addmm dtype=f16 weight_dtype=f32 n=1024 k=256 bias=1 bias_dtype=f32 activation=0 act_columns=0 "
      "weight_transposed=1 vector=8 vector_w=8 split=0 m=65536",
      "norm_addmm dtype=bf16 weight_dtype=f32 n=40 k=64 bias=0 bias_dtype=none activation=1 act_columns=40 "
      "weight_transposed=0 vector=8 vector_w=8 split=0 m=65536",
      "norm_addmm dtype=bf16 weight_dtype=bf16 n=320 k=128 bias=0 bias_dtype=none activation=0 act_columns=0 "
      "weight_transposed=1 vector=8 vector_w=8 split=64 m=131072",
  };
  return kProblems;
}

}  // namespace hstujit::test
