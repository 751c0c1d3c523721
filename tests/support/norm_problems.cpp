#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> norm_problems() {
  static constexpr std::string_view kProblems[] = {
      "layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 vector=8 rows=65536",
      "layer_norm dtype=f16 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=8192 vector=8 rows=4096",
      "layer_norm dtype=f32 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=257 vector=1 rows=1024",
      "layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=e4m3 scaling=1 dim=512 vector=8 rows=65536",
      "layer_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=e5m2 scaling=2 dim=4100 vector=4 rows=1024",
      "layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 vector=8 rows=65536 moments=1",
      "layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=e4m3 scaling=1 dim=512 vector=8 rows=65536 moments=1",
      "rms_norm dtype=f16 weight_dtype=f16 has_weight=1 fp8=e4m3 scaling=2 dim=1024 activation=0 vector=8 rows=65536",
      "layer_norm dtype=bf16 weight_dtype=f32 has_weight=1 fp8=e4m3 scaling=2 dim=1001 vector=1 rows=4096",
      "layer_norm dtype=f16 weight_dtype=none has_weight=0 fp8=e5m2 scaling=1 dim=20002 vector=2 rows=512",
      "rms_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=e4m3 scaling=1 dim=16382 activation=1 vector=2 rows=512",
      "rms_norm dtype=bf16 weight_dtype=none has_weight=0 fp8=e4m3 scaling=2 dim=65536 activation=1 vector=8 rows=512",
      "rms_norm dtype=bf16 weight_dtype=none has_weight=0 fp8=e4m3 scaling=1 dim=0 activation=0 vector=8 rows=512",
      "norm_mul dtype=bf16 weight_dtype=bf16 fp8=none scaling=0 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 "
      "silu_u=1 norm=0 "
      "dropout=0 vector=8 "
      "rows=65536",
      "norm_mul dtype=f16 weight_dtype=f32 fp8=none scaling=0 dim=1024 groups=8 activation=0 concat_u=0 concat_x=0 "
      "silu_u=0 norm=0 "
      "dropout=0 vector=8 "
      "rows=16384",
      "norm_mul dtype=f32 weight_dtype=f32 fp8=none scaling=0 dim=99 groups=0 activation=2 concat_u=0 concat_x=0 "
      "silu_u=0 norm=0 "
      "dropout=0 vector=1 "
      "rows=128",
      "norm_mul dtype=bf16 weight_dtype=bf16 fp8=none scaling=0 dim=512 groups=0 activation=1 concat_u=1 concat_x=1 "
      "silu_u=1 norm=2 "
      "dropout=1 vector=8 rows=65536",
      "norm_mul dtype=f16 weight_dtype=f16 fp8=none scaling=0 dim=512 groups=0 activation=0 concat_u=1 concat_x=0 "
      "silu_u=0 norm=1 "
      "dropout=2 vector=8 rows=65536",
      "norm_mul dtype=f32 weight_dtype=f32 fp8=none scaling=0 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 "
      "silu_u=0 norm=0 "
      "dropout=3 vector=4 rows=4096",
      "norm_mul dtype=bf16 weight_dtype=f32 fp8=none scaling=0 dim=20000 groups=0 activation=0 concat_u=0 concat_x=0 "
      "silu_u=0 norm=0 "
      "dropout=4 vector=8 rows=4096",
      "norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 "
      "silu_u=0 norm=0 dropout=0 vector=8 rows=131072",
      "norm_mul dtype=f16 weight_dtype=f32 fp8=e5m2 scaling=2 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 "
      "silu_u=1 norm=0 dropout=3 vector=8 rows=65536",
      "norm_mul dtype=f32 weight_dtype=f32 fp8=e4m3 scaling=1 dim=4096 groups=0 activation=1 concat_u=0 concat_x=1 "
      "silu_u=0 norm=1 dropout=2 vector=4 rows=1024",
      "norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=512 groups=4 activation=0 concat_u=1 concat_x=1 "
      "silu_u=0 norm=0 dropout=0 vector=8 rows=65536",
      "norm_mul dtype=bf16 weight_dtype=f32 fp8=e4m3 scaling=2 dim=99 groups=0 activation=2 concat_u=1 concat_x=1 "
      "silu_u=1 norm=2 dropout=1 vector=1 rows=1024",
      "norm_mul dtype=f16 weight_dtype=f16 fp8=e5m2 scaling=1 dim=20000 groups=0 activation=0 concat_u=1 concat_x=0 "
      "silu_u=0 norm=1 dropout=4 vector=8 rows=512",
      "norm_mul dtype=bf16 weight_dtype=bf16 fp8=e4m3 scaling=1 dim=0 groups=0 activation=0 concat_u=1 concat_x=1 "
      "silu_u=0 norm=0 dropout=0 vector=8 rows=512",
      "rms_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 activation=0 vector=8 rows=65536",
      "rms_norm dtype=f32 weight_dtype=f32 has_weight=1 fp8=none scaling=0 dim=4096 activation=1 vector=4 rows=4096",
      "rms_norm dtype=f16 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=20000 activation=1 vector=8 rows=1024",
      "swish_layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 fp8=none scaling=0 dim=512 vector=8 rows=524288",
      "swish_layer_norm dtype=f32 weight_dtype=none has_weight=0 fp8=none scaling=0 dim=99 vector=1 rows=1024",
      "group_norm dtype=bf16 weight_dtype=bf16 has_weight=1 dim=512 groups=4 vector=8 rows=524288",
      "group_norm dtype=f16 weight_dtype=none has_weight=0 dim=99 groups=3 vector=1 rows=1024",
      "rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=bf16 fp8=none scaling=0 dim=4096 head_dim=64 vector=8 "
      "batch=8 length=8192",
      "rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=none scaling=0 dim=1024 head_dim=32 vector=4 "
      "batch=8 length=512",
      "rms_norm_rope dtype=f16 weight_dtype=f32 angle_dtype=f32 fp8=none scaling=0 dim=20010 head_dim=6 vector=1 "
      "batch=1 length=16",
      "rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=bf16 fp8=e4m3 scaling=1 dim=4096 head_dim=64 vector=8 "
      "batch=8 length=8192",
      "rms_norm_rope dtype=bf16 weight_dtype=bf16 angle_dtype=f32 fp8=e4m3 scaling=2 dim=4096 head_dim=128 vector=8 "
      "batch=8 length=8192",
      "rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=e5m2 scaling=2 dim=2560 head_dim=256 vector=4 "
      "batch=8 length=512",
      "rms_norm_rope dtype=f16 weight_dtype=f16 angle_dtype=f16 fp8=e4m3 scaling=1 dim=16128 head_dim=96 vector=8 "
      "batch=1 length=512",
      "rms_norm_rope dtype=bf16 weight_dtype=f32 angle_dtype=f32 fp8=e4m3 scaling=2 dim=1152 head_dim=96 vector=8 "
      "batch=8 length=512",
      "rms_norm_rope dtype=f32 weight_dtype=f32 angle_dtype=f32 fp8=e5m2 scaling=1 dim=16382 head_dim=2 vector=1 "
      "batch=1 length=512",
      "rms_norm_rope dtype=f16 weight_dtype=bf16 angle_dtype=f16 fp8=e4m3 scaling=2 dim=24576 head_dim=192 vector=8 "
      "batch=1 length=512",
      "softmax dtype=bf16 dim=512 log=0 zero_empty=0 vector=8 rows=524288",
      "softmax dtype=f32 dim=781 log=1 zero_empty=1 vector=1 rows=2048",
      "softmax dtype=bf16 dim=65536 log=0 zero_empty=1 vector=8 rows=4096",
      "layer_norm_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=bf16 has_moments=0 has_dresidual=0 has_dx=1 "
      "has_dweight=1 has_dbias=1 dim=512 vector=8 rows=524288",
      "layer_norm_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 has_moments=1 has_dresidual=1 has_dx=1 "
      "has_dweight=1 has_dbias=1 dim=128 vector=8 rows=65536",
      "layer_norm_backward dtype=f32 weight_dtype=bf16 gradient_dtype=bf16 has_moments=0 has_dresidual=1 has_dx=1 "
      "has_dweight=1 has_dbias=0 dim=1002 vector=2 rows=4096",
      "layer_norm_backward dtype=f16 weight_dtype=none gradient_dtype=none has_moments=0 has_dresidual=0 has_dx=1 "
      "has_dweight=0 has_dbias=0 dim=33 vector=1 rows=1024",
      "layer_norm_backward dtype=bf16 weight_dtype=bf16 gradient_dtype=f32 has_moments=0 has_dresidual=0 has_dx=0 "
      "has_dweight=0 has_dbias=1 dim=4096 vector=8 rows=65536",
      "layer_norm_backward dtype=f16 weight_dtype=f16 gradient_dtype=f16 has_moments=1 has_dresidual=0 has_dx=0 "
      "has_dweight=1 has_dbias=1 dim=20000 vector=8 rows=1024",
      "layer_norm_backward dtype=f32 weight_dtype=f32 gradient_dtype=f32 has_moments=0 has_dresidual=1 has_dx=1 "
      "has_dweight=1 has_dbias=1 dim=40001 vector=1 rows=64",
      "dropout dtype=bf16 active=1 flat=1 words=1 vector=8 rows=524288 dim=512",
      "dropout dtype=f32 active=1 flat=0 words=4 vector=4 rows=65536 dim=1024",
      "dropout dtype=f16 active=1 flat=0 words=4 vector=1 rows=64 dim=64",
      "dropout dtype=f16 active=0 flat=1 words=1 vector=8 rows=64 dim=64",
  };
  return kProblems;
}

}  // namespace hstujit::test
