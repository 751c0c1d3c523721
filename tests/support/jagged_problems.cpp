#include "support/sample_problems.hpp"

namespace hstujit::test {

std::span<const std::string_view> jagged_problems() {
  static constexpr std::string_view kProblems[] = {
      "concat_2d_jagged access_bytes=16 row_bytes=1024 left_offset=i64 right_offset=i64 prefix=0 replace=0 batch=512 "
      "rows=524288",
      "concat_2d_jagged access_bytes=4 row_bytes=516 left_offset=none right_offset=i32 prefix=1 replace=0 batch=32 "
      "rows=2048",
      "concat_2d_jagged access_bytes=1 row_bytes=1 left_offset=i32 right_offset=none prefix=0 replace=1 batch=32 "
      "rows=2048",
      "split_2d_jagged access_bytes=16 row_bytes=1024 left_offset=i64 right_offset=i64 prefix=0 replace=0 batch=512 "
      "rows=524288",
      "split_2d_jagged access_bytes=8 row_bytes=24 left_offset=none right_offset=i32 prefix=1 replace=0 batch=32 "
      "rows=2048",
      "split_2d_jagged access_bytes=2 row_bytes=66 left_offset=i32 right_offset=none prefix=1 replace=0 batch=32 "
      "rows=2048",
      "jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=512 bias=1 bias_dtype=bf16 "
      "dense_transposed=0 vector_x=8 vector_w=8 vector_z=8 batch=512 rows=524288",
      "jagged_dense_bmm_broadcast_add dtype=f16 offset_dtype=i32 n=20 k=33 bias=2 bias_dtype=f16 dense_transposed=1 "
      "vector_x=1 vector_w=1 vector_z=4 batch=2 rows=64",
      "jagged_dense_bmm_broadcast_add dtype=bf16 offset_dtype=i64 n=512 k=130 bias=1 bias_dtype=f32 "
      "dense_transposed=1 vector_x=2 vector_w=2 vector_z=8 batch=512 rows=524288",
      "jagged_dense_bmm_broadcast_add dtype=f32 offset_dtype=i64 n=200 k=130 bias=1 bias_dtype=f32 "
      "dense_transposed=0 vector_x=2 vector_w=4 vector_z=4 batch=32 rows=16384",
      "jagged_dense_broadcast_add dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=none dim=512 vector=8 "
      "logarithm=0 batch=512 rows=524288",
      "jagged_dense_broadcast_add dtype=f32 table_dtype=f16 offset_dtype=i32 target_dtype=none dim=33 vector=1 "
      "logarithm=0 batch=32 rows=1024",
      "add_positional_embeddings dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=i64 dim=512 vector=8 "
      "logarithm=0 batch=512 rows=524288",
      "add_positional_embeddings dtype=f16 table_dtype=f32 offset_dtype=i32 target_dtype=none dim=20000 vector=8 "
      "logarithm=0 batch=32 rows=1024",
      "add_timestamp_positional_embeddings dtype=bf16 table_dtype=bf16 offset_dtype=i64 target_dtype=i64 dim=512 "
      "vector=8 logarithm=0 batch=512 rows=524288",
      "add_timestamp_positional_embeddings dtype=bf16 table_dtype=f32 offset_dtype=i64 target_dtype=i32 dim=512 "
      "vector=8 logarithm=1 batch=512 rows=524288",
      "add_timestamp_positional_embeddings dtype=f32 table_dtype=f32 offset_dtype=i32 target_dtype=none dim=3 vector=1 "
      "logarithm=1 batch=32 rows=65536",
      "complete_cumsum dtype=i64 out_dtype=i64 count=512",
      "complete_cumsum dtype=i32 out_dtype=i64 count=65536",
      "complete_cumsum dtype=f32 out_dtype=f32 count=512",
      "complete_cumsum dtype=f32 out_dtype=f32 count=1073741824",
      "concat_1d_jagged access_bytes=8 row_bytes=8 left_length=i64 right_length=i64 offset=none batch=512 rows=524288",
      "concat_1d_jagged access_bytes=1 row_bytes=1 left_length=i32 right_length=i64 offset=none batch=32 rows=64",
      "concat_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i64 offset=none batch=8192 "
      "rows=67108864",
      "concat_1d_jagged access_bytes=1 row_bytes=1 left_length=i32 right_length=i32 offset=none batch=65536 "
      "rows=1073741824",
      "split_1d_jagged access_bytes=4 row_bytes=4 left_length=i64 right_length=i64 offset=none batch=512 rows=524288",
      "split_1d_jagged access_bytes=8 row_bytes=8 left_length=i64 right_length=i64 offset=none batch=512 rows=67108864",
      "jagged_remove_first_or_last_1d access_bytes=8 row_bytes=8 left_length=i64 right_length=none offset=none "
      "batch=512 rows=524288",
      "jagged_remove_first_or_last_1d access_bytes=2 row_bytes=2 left_length=i64 right_length=none offset=none "
      "batch=8192 rows=67108864",
      "jagged_remove_first_or_last_1d access_bytes=1 row_bytes=1 left_length=i32 right_length=none offset=none "
      "batch=32 rows=64",
      "replace_last_n_with_jagged access_bytes=16 row_bytes=1024 left_length=i64 right_length=i32 offset=none "
      "batch=512 "
      "rows=524288",
      "replace_last_n_with_jagged access_bytes=2 row_bytes=66 left_length=i32 right_length=i32 offset=none batch=32 "
      "rows=64",
      "jagged_transpose_1d access_bytes=8 row_bytes=8 left_length=i64 right_length=none offset=i64 batch=4096 "
      "rows=65536",
      "jagged_transpose_1d access_bytes=4 row_bytes=4 left_length=i64 right_length=none offset=i64 batch=4096 "
      "rows=33554432",
      "jagged_transpose_1d access_bytes=2 row_bytes=2 left_length=i32 right_length=none offset=i64 batch=64 rows=1024",
      "jagged_reduce_sum dtype=bf16 out_dtype=bf16 offset_dtype=i64 dim=512 vector=8 batch=512 rows=524288",
      "jagged_reduce_sum dtype=f32 out_dtype=f32 offset_dtype=i32 dim=33 vector=1 batch=32 rows=1024",
      "jagged_reduce_sum dtype=f16 out_dtype=f32 offset_dtype=i64 dim=20000 vector=4 batch=32 rows=1024",
      "jagged_to_padded_dense access_bytes=16 row_bytes=1024 offset_dtype=i64 batch=512 rows=1048576",
      "jagged_to_padded_dense access_bytes=8 row_bytes=24 offset_dtype=i32 batch=512 rows=1024",
      "jagged_to_padded_dense access_bytes=2 row_bytes=66 offset_dtype=i32 batch=32 rows=1024",
      "dense_to_jagged access_bytes=16 row_bytes=1024 offset_dtype=i64 batch=512 rows=524288",
      "dense_to_jagged access_bytes=1 row_bytes=1 offset_dtype=i32 batch=32 rows=1024",
      "jagged_truncate_history access_bytes=16 row_bytes=1024 left_length=i64 right_length=none offset=i64 batch=512 "
      "rows=524288",
      "jagged_truncate_history access_bytes=4 row_bytes=4 left_length=none right_length=none offset=i32 batch=32 "
      "rows=1024",
      "sort_kv_pairs key_dtype=i32 value_bytes=2 count=512",
      "sort_kv_pairs key_dtype=i64 value_bytes=8 count=16384",
      "sort_kv_pairs key_dtype=i32 value_bytes=1 count=1048576",
      "sort_by_length offset_dtype=i64 out_dtype=i64 count=512",
      "sort_by_length offset_dtype=i32 out_dtype=i32 count=16384",
      "build_sla_func offset_dtype=i64 target_dtype=i64 rows=65536",
      "build_sla_func offset_dtype=i32 target_dtype=none rows=1024",
      "expand_1d_jagged_to_dense element_bytes=8 offset_dtype=i64 batch=512 max_len=1024",
      "expand_1d_jagged_to_dense element_bytes=1 offset_dtype=i32 batch=32 max_len=64",
  };
  return kProblems;
}

}  // namespace hstujit::test
