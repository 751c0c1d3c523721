#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> dense_problems() {
  static constexpr std::string_view kProblems[] = {
      "addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 weight_transposed=0 "
      "vector_x=8 vector_w=8 vector_z=8 m=65536",
      "addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 weight_transposed=1 "
      "vector_x=8 vector_w=8 vector_z=8 m=16384",
      "addmm dtype=bf16 n=130 k=67 bias=1 bias_dtype=f32 activation=1 act_columns=65 weight_transposed=0 "
      "vector_x=1 vector_w=2 vector_z=2 m=128",
  };
  return kProblems;
}

}  // namespace hstujit::test
