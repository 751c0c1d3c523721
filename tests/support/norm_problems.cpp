#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> norm_problems() {
  static constexpr std::string_view kProblems[] = {
      "layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 dim=512 vector=8 rows=65536",
      "layer_norm dtype=f16 weight_dtype=f32 has_weight=1 dim=8192 vector=8 rows=4096",
      "layer_norm dtype=f32 weight_dtype=none has_weight=0 dim=257 vector=1 rows=1024",
      "norm_mul dtype=bf16 weight_dtype=bf16 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=1 vector=8 "
      "rows=65536",
      "norm_mul dtype=f16 weight_dtype=f32 dim=1024 groups=8 activation=0 concat_u=0 concat_x=0 silu_u=0 vector=8 "
      "rows=16384",
      "norm_mul dtype=f32 weight_dtype=f32 dim=99 groups=0 activation=2 concat_u=0 concat_x=0 silu_u=0 vector=1 "
      "rows=128",
  };
  return kProblems;
}

}  // namespace hstujit::test
