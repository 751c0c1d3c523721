#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> attention_problems() {
  static constexpr std::string_view kProblems[] = {
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=64 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none mask=1 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=16 total=16384 max_seq_len=4096 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=128 total=65536 max_seq_len=1024 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=1 offset_dtype=i64 target_dtype=none mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=8 total=256 max_seq_len=64 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=2 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=3 softmax_heads=2 lse=1 rab=1 heads_per_kv=1 moments=0",
      "attention dtype=f16 head_dim_qk=80 head_dim_v=112 num_heads=4 offset_dtype=i32 target_dtype=i64 mask=0 "
      "contextual=2 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=1 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=1 lse=1 rab=1 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=3 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=1 lse=0 rab=0 heads_per_kv=1 moments=0",
      // Biases in whole chunks.
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=2 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=2 heads_per_kv=1 moments=0",
      "attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=1 lse=1 rab=2 heads_per_kv=1 moments=0",
      // Statistics of out's rows, too.
      "attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=131072 max_seq_len=16384 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=1",
      "attention dtype=f16 head_dim_qk=64 head_dim_v=40 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=0 heads_per_kv=2 moments=1",
      "attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=2 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=1",
      "attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=4 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 lse=1 rab=1 heads_per_kv=1 moments=0",
      "attention dtype=f32 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none mask=3 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=4 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=5 softmax_heads=0 lse=0 rab=0 heads_per_kv=1 moments=0",
      "attention dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=4 moments=0",
      "attention dtype=f32 head_dim_qk=64 head_dim_v=32 num_heads=6 offset_dtype=i32 target_dtype=none mask=1 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=4 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 lse=0 rab=0 heads_per_kv=2 moments=0",
      "attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i64 "
      "mask=0 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 "
      "drab=0 has_d_attn_scale=0",
      "attention_backward dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 "
      "drab=0 has_d_attn_scale=0",
      "attention_backward dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=2 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 "
      "drab=0 has_d_attn_scale=0",
      "attention_backward dtype=f16 head_dim_qk=80 head_dim_v=112 num_heads=4 offset_dtype=i64 target_dtype=i64 mask=0 "
      "contextual=2 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 rab=1 heads_per_kv=2 has_dq=1 has_dk=1 has_dv=1 "
      "drab=2 has_d_attn_scale=1",
      "attention_backward dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=3 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=3 softmax_heads=1 rab=2 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 "
      "drab=1 has_d_attn_scale=0",
      "attention_backward dtype=bf16 head_dim_qk=50 head_dim_v=25 num_heads=4 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=1 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=0 has_dk=1 has_dv=1 "
      "drab=0 has_d_attn_scale=0",
      "attention_backward dtype=bf16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=1 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=8 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=0 has_dv=0 "
      "drab=0 has_d_attn_scale=1",
      "attention_backward dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 "
      "mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=4 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 softmax_heads=2 rab=1 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 "
      "drab=2 has_d_attn_scale=1",
      "attention_backward dtype=f32 head_dim_qk=256 head_dim_v=256 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=3 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=4 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=5 softmax_heads=0 rab=0 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 "
      "drab=0 has_d_attn_scale=0",
      "attention_backward dtype=f32 head_dim_qk=64 head_dim_v=32 num_heads=4 offset_dtype=i32 target_dtype=none mask=1 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=4 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 softmax_heads=0 rab=0 heads_per_kv=2 has_dq=0 has_dk=1 has_dv=0 "
      "drab=0 has_d_attn_scale=0",
      "rel_bias dtype=bf16 table_dtype=f32 num_heads=1 vector=8 batch=32 positions=2048",
      "rel_bias dtype=f32 table_dtype=bf16 num_heads=4 vector=4 batch=8 positions=256",
      "rel_bias dtype=f16 table_dtype=f16 num_heads=2 vector=1 batch=8 positions=64",
      "rel_bias dtype=f32 table_dtype=f16 num_heads=2 vector=4 batch=8 positions=1024",
      "delta_attention dtype=f32 head_dim_qk=64 head_dim_v=80 num_heads=4 heads_per_kv=2 offset_dtype=i32 "
      "q_offset_dtype=i64 target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 "
      "min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=4 batch=32 max_q_len=128 max_seq_len=4096 "
      "rab=0 page_gaps=0",
      "paged_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none "
      "q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=4 batch=32 max_q_len=256 max_seq_len=1024 "
      "rab=0 page_gaps=0",
      "flash_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=4 "
      "batch=16 queries=2048 keys=2048",
      "delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 "
      "q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=32 max_seq_len=4096 "
      "rab=0 page_gaps=0",
      "delta_attention dtype=f16 head_dim_qk=50 head_dim_v=256 num_heads=4 heads_per_kv=2 offset_dtype=i32 "
      "q_offset_dtype=i64 target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 "
      "min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=2 batch=32 max_q_len=128 max_seq_len=4096 "
      "rab=0 page_gaps=0",
      "paged_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none "
      "q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=256 max_seq_len=1024 "
      "rab=0 page_gaps=0",
      "paged_attention dtype=bf16 head_dim_qk=64 head_dim_v=32 num_heads=4 heads_per_kv=4 offset_dtype=none "
      "q_offset_dtype=none target_dtype=none page_dtype=i64 page_size=4000 mask=3 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=5 attn_scale=1 vector=8 batch=32 max_q_len=1 max_seq_len=4096 "
      "rab=0 page_gaps=0",
      "delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 "
      "q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=32 max_seq_len=4096 "
      "rab=1 page_gaps=0",
      "delta_attention dtype=f16 head_dim_qk=50 head_dim_v=256 num_heads=4 heads_per_kv=2 offset_dtype=i32 "
      "q_offset_dtype=i64 target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 "
      "min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=2 batch=32 max_q_len=128 max_seq_len=4096 "
      "rab=1 page_gaps=0",
      // Masks given as data, and biases in whole chunks.
      "delta_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 "
      "q_offset_dtype=none target_dtype=none page_dtype=none page_size=0 mask=3 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=5 attn_scale=0 vector=8 batch=32 max_q_len=128 max_seq_len=4096 "
      "rab=2 page_gaps=0",
      "paged_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none "
      "q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=1 max_attn_len=1 "
      "min_full_attn=1 target_groups=1 intervals=0 attn_scale=2 vector=8 batch=32 max_q_len=256 max_seq_len=1024 "
      "rab=2 page_gaps=0",
      "delta_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=4 heads_per_kv=1 offset_dtype=i64 "
      "q_offset_dtype=i64 target_dtype=none page_dtype=none page_size=0 mask=2 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=256 max_seq_len=4096 "
      "rab=1 page_gaps=0",
      "delta_attention dtype=f32 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=i64 "
      "q_offset_dtype=none target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=1 max_attn_len=1 "
      "min_full_attn=1 target_groups=1 intervals=0 attn_scale=1 vector=4 batch=32 max_q_len=32 max_seq_len=4096 "
      "rab=1 page_gaps=0",
      "paged_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 heads_per_kv=1 offset_dtype=none "
      "q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=32 max_q_len=256 max_seq_len=1024 "
      "rab=1 page_gaps=0",
      "paged_attention dtype=f16 head_dim_qk=256 head_dim_v=256 num_heads=4 heads_per_kv=4 offset_dtype=none "
      "q_offset_dtype=none target_dtype=none page_dtype=i64 page_size=4000 mask=3 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=5 attn_scale=1 vector=8 batch=32 max_q_len=1 max_seq_len=4096 "
      "rab=1 page_gaps=0",
      "paged_attention dtype=f32 head_dim_qk=64 head_dim_v=48 num_heads=4 heads_per_kv=2 offset_dtype=none "
      "q_offset_dtype=i32 target_dtype=i32 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 "
      "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=4 batch=32 max_q_len=256 max_seq_len=1024 "
      "rab=1 page_gaps=0",
      "append_kv_cache element_bytes=2 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i32 target_dtype=i32 "
      "page_dtype=i32 page_size=32 vector=16 batch=32 total=4096",
      "append_kv_cache element_bytes=1 head_dim_qk=33 head_dim_v=3 num_heads=3 offset_dtype=none target_dtype=none "
      "page_dtype=i64 page_size=7 vector=1 batch=1 total=8",
      "flash_attention dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=16 offset_dtype=none mask=0 lse=1 vector=8 "
      "batch=16 queries=2048 keys=2048",
      "flash_attention dtype=f16 head_dim_qk=64 head_dim_v=80 num_heads=3 offset_dtype=i64 mask=1 lse=0 vector=1 "
      "batch=16 queries=4096 keys=512",
      "flash_attention dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=8 offset_dtype=i64 mask=1 lse=1 vector=8 "
      "batch=16 queries=16384 keys=2048",
      "flash_attention dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 mask=0 lse=1 vector=8 "
      "batch=16 queries=16384 keys=2048",
      "flash_attention dtype=bf16 head_dim_qk=72 head_dim_v=136 num_heads=2 offset_dtype=none mask=1 lse=0 vector=8 "
      "batch=16 queries=512 keys=2048",
      "attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=131072 "
      "max_seq_len=4096 "
      "target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=1 heads_per_kv=1",
      "attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=4 total=65536 max_seq_len=16384 "
      "target_groups=0 intervals=0 scaling=1 vector_out=8 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=f16 head_dim_qk=64 head_dim_v=64 num_heads=4 offset_dtype=i32 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=2 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=bf16 head_dim_qk=256 head_dim_v=256 num_heads=2 offset_dtype=i32 target_dtype=none "
      "mask=2 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=bf16 head_dim_qk=48 head_dim_v=80 num_heads=3 offset_dtype=i32 target_dtype=i64 mask=0 "
      "contextual=2 max_attn_len=0 min_full_attn=0 attn_scale=1 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 scaling=0 vector_out=8 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=4 offset_dtype=i64 target_dtype=i32 "
      "mask=0 contextual=1 max_attn_len=1 min_full_attn=1 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=1 intervals=0 scaling=3 vector_out=8 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=f16 head_dim_qk=50 head_dim_v=25 num_heads=1 offset_dtype=i64 target_dtype=i32 mask=0 "
      "contextual=1 max_attn_len=1 min_full_attn=0 attn_scale=0 vector=1 batch=8 total=256 max_seq_len=64 "
      "target_groups=1 intervals=0 scaling=3 vector_out=1 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=64 num_heads=4 offset_dtype=i64 target_dtype=none "
      "mask=3 "
      "contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=3 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=1",
      "attention_fp8 dtype=bf16 head_dim_qk=128 head_dim_v=128 num_heads=8 offset_dtype=i64 target_dtype=i32 "
      "mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 scaling=2 vector_out=8 fast_sums=0 heads_per_kv=4",
      "attention_fp8 dtype=f16 head_dim_qk=64 head_dim_v=32 num_heads=6 offset_dtype=i32 target_dtype=none "
      "mask=1 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=0 vector=16 batch=32 total=65536 max_seq_len=2048 "
      "target_groups=0 intervals=0 scaling=3 vector_out=8 fast_sums=0 heads_per_kv=2",
  };
  return kProblems;
}

}  // namespace hstujit::test
