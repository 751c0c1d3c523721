#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> attention_problems() {
  static constexpr std::string_view kProblems[] = {
      "hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048",
      "hstu_attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=1 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=16 total=16384 max_seq_len=4096",
      "hstu_attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=128 total=65536 max_seq_len=1024",
      "hstu_attention dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=1 offset_dtype=i64 target_dtype=none mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=8 total=256 max_seq_len=64",
  };
  return kProblems;
}

}  // namespace hstujit::test
