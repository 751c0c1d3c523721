#include "support/sample_problems.hpp"

#include <span>
#include <stdexcept>
#include <string>

namespace hstujit::test {
namespace {

constexpr std::string_view kLayerNorm[] = {
    "layer_norm dtype=bf16 weight_dtype=bf16 has_weight=1 dim=512 vector=8 rows=65536",
    "layer_norm dtype=f16 weight_dtype=f32 has_weight=1 dim=8192 vector=8 rows=4096",
    "layer_norm dtype=f32 weight_dtype=none has_weight=0 dim=257 vector=1 rows=1024",
};

constexpr std::string_view kAddmm[] = {
    "addmm dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=2048 weight_transposed=0 "
    "vector_x=8 vector_w=8 vector_z=8 m=65536",
    "addmm dtype=f16 n=512 k=1536 bias=2 bias_dtype=f16 activation=0 act_columns=0 weight_transposed=1 "
    "vector_x=8 vector_w=8 vector_z=8 m=16384",
    "addmm dtype=bf16 n=130 k=67 bias=1 bias_dtype=f32 activation=1 act_columns=65 weight_transposed=0 "
    "vector_x=1 vector_w=2 vector_z=2 m=128",
};

constexpr std::string_view kAttention[] = {
    "hstu_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 "
    "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048",
    "hstu_attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=1 "
    "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=16 total=16384 max_seq_len=4096",
    "hstu_attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 "
    "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=128 total=65536 max_seq_len=1024",
    "hstu_attention dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=1 offset_dtype=i64 target_dtype=none mask=0 "
    "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=8 total=256 max_seq_len=64",
};

constexpr std::string_view kNormMul[] = {
    "norm_mul dtype=bf16 weight_dtype=bf16 dim=512 groups=0 activation=0 concat_u=1 concat_x=1 silu_u=1 vector=8 "
    "rows=65536",
    "norm_mul dtype=f16 weight_dtype=f32 dim=1024 groups=8 activation=0 concat_u=0 concat_x=0 silu_u=0 vector=8 "
    "rows=16384",
    "norm_mul dtype=f32 weight_dtype=f32 dim=99 groups=0 activation=2 concat_u=0 concat_x=0 silu_u=0 vector=1 rows=128",
};

std::span<const std::string_view> texts_of(Op op) {
  switch (op) {
    case Op::layer_norm:
      return kLayerNorm;
    case Op::addmm:
      return kAddmm;
    case Op::hstu_attention:
      return kAttention;
    case Op::norm_mul:
      return kNormMul;
  }
  return {};
}

}  // namespace

std::vector<Problem> sample_problems(Op op) {
  std::vector<Problem> problems;
  for (const std::string_view text : texts_of(op)) {
    const auto problem = parse_problem(text);
    if (!problem) throw std::runtime_error("not a problem: " + std::string(text));
    problems.push_back(*problem);
  }
  return problems;
}

}  // namespace hstujit::test
