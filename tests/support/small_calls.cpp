#include "support/small_calls.hpp"

#include "support/element.hpp"

#include <cstring>
#include <new>

namespace hstujit::test {
namespace {

// Twelve rows in three sequences, and as many in the parts and pages that they have.
constexpr const char* kDocument = R"j({"format": "hstujit-workload-1", "name": "small calls", "dtype": "f32",
"operators": [
{"op": "attention", "max_seq_len": 5, "target_group_size": 2, "max_attn_len": 3, "min_full_attn_seq_len": 1,
 "num_softmax_heads": 1, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 1]}}},
  "num_contexts": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 2, 0]}}},
  "q": [12, 2, 8], "k": [12, 2, 8], "v": [12, 2, 4], "out": [12, 2, 4], "attn_scale": [12], "rab": [3, 1, 5, 5],
  "lse": [1, 12]}},
{"op": "attention", "name": "hstu_attention by intervals", "mask": "intervals", "max_seq_len": 5, "tensors": {
  "seq_offsets": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "intervals": {"dtype": "i32", "values": {"batch": 36, "lengths": 2}, "shape": [1, 3, 12]},
  "q": [12, 2, 8], "k": [12, 1, 8], "v": [12, 1, 4], "out": [12, 2, 4], "moments": [12, 2, 2]}},
{"op": "attention_backward", "max_seq_len": 5, "target_group_size": 2, "max_attn_len": 3, "min_full_attn_seq_len": 1,
 "num_softmax_heads": 1, "accumulate": true, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 1]}}},
  "num_contexts": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 2, 0]}}},
  "q": [12, 2, 8], "k": [12, 2, 8], "v": [12, 2, 4], "dout": [12, 2, 4], "out": [12, 2, 4], "lse": [1, 12],
  "attn_scale": [12], "rab": [3, 1, 5, 5], "dq": [12, 2, 8], "dk": [12, 2, 8], "dv": [12, 2, 4],
  "drab": [3, 1, 5, 5], "d_attn_scale": [12]}},
{"op": "attention_backward", "name": "attention_backward by intervals", "mask": "intervals", "max_seq_len": 5,
 "tensors": {
  "seq_offsets": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "intervals": {"dtype": "i32", "values": {"batch": 36, "lengths": 2}, "shape": [1, 3, 12]},
  "q": [12, 2, 8], "k": [12, 1, 8], "v": [12, 1, 4], "dout": [12, 2, 4], "attn_scale": [1], "dk": [12, 1, 8],
  "dv": [12, 1, 4], "d_attn_scale": [1]}},
{"op": "attention_backward", "name": "attention_backward of all pairs", "mask": "full", "max_seq_len": 5,
 "scaling_seqlen": 3, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "q": [12, 4, 8], "k": [12, 2, 8], "v": [12, 2, 8], "dout": [12, 4, 8], "rab": [3, 4, 4, 4], "dq": [12, 4, 8],
  "dk": [12, 2, 8], "dv": [12, 2, 8], "drab": [3, 4, 4, 4]}},
{"op": "attention_backward", "name": "attention_backward of a window", "mask": "local", "max_seq_len": 5,
 "window_left": 2, "window_right": 1, "num_softmax_heads": 2, "alpha": 0.5, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "q": [12, 2, 4], "k": [12, 2, 4], "v": [12, 2, 8], "dout": [12, 2, 8], "out": [12, 2, 8], "lse": [2, 12],
  "dq": [12, 2, 4], "dk": [12, 2, 4]}},
{"op": "attention_backward", "name": "attention_backward behind contexts", "max_seq_len": 5, "contextual_seq_len": 2,
 "max_attn_len": 2, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"dtype": "i32", "values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 0, 1]}}},
  "q": [12, 2, 8], "k": [12, 2, 8], "v": [12, 2, 4], "dout": [12, 2, 4], "dq": [12, 2, 8], "dv": [12, 2, 4]}},
{"op": "attention_fp8", "max_seq_len": 5, "scaling": "sequence", "contextual_seq_len": 1, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"dtype": "i32", "values": {"batch": 3, "lengths": 1}},
  "q": {"shape": [12, 2, 16], "dtype": "e4m3"}, "k": {"shape": [12, 2, 16], "dtype": "e4m3"},
  "v": {"shape": [12, 2, 16], "dtype": "e4m3"}, "q_descale": [3, 2], "k_descale": [3, 2], "v_descale": [3, 2],
  "out": {"shape": [12, 2, 16], "dtype": "bf16"}}},
{"op": "attention_fp8", "name": "hstu_attention_fp8 by blocks", "max_seq_len": 5, "scaling": "block", "tensors": {
  "seq_offsets": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_contexts": {"dtype": "i32", "values": {"batch": 3, "lengths": 1}}, "attn_scale": [1],
  "q": {"shape": [12, 2, 16], "dtype": "e4m3"}, "k": {"shape": [12, 2, 16], "dtype": "e4m3"},
  "v": {"shape": [12, 2, 16], "dtype": "e4m3"}, "q_descale": [1, 2], "k_descale": [1, 2], "v_descale": [1, 2],
  "out": {"shape": [12, 2, 16], "dtype": "bf16"}}},
{"op": "delta_attention", "max_seq_len": 5, "max_q_len": 3, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "q_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [3, 1, 2]}}},
  "num_targets": {"values": {"batch": 3, "lengths": 1}},
  "num_contexts": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 0, 2]}}},
  "q": [6, 2, 8], "k": [12, 1, 8], "v": [12, 1, 4], "out": [6, 2, 4], "attn_scale": [6], "rab": [3, 2, 5, 5]}},
{"op": "paged_attention", "max_seq_len": 9, "max_q_len": 3, "tensors": {
  "page_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "page_ids": {"values": {"batch": 5, "lengths": {"kind": "explicit", "lengths": [3, 0, 4, 1, 2]}}},
  "last_page_lens": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 1, 1]}}},
  "q_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [3, 1, 2]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 1, 0]}}},
  "num_contexts": {"dtype": "i32", "values": {"batch": 3, "lengths": 1}},
  "q": [6, 2, 8], "k": [6, 1, 8], "v": [6, 1, 4], "out": [6, 2, 4], "k_cache": [5, 2, 1, 8], "v_cache": [5, 2, 1, 4]}},
{"op": "append_kv_cache", "tensors": {
  "page_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "page_ids": {"values": {"batch": 5, "lengths": {"kind": "explicit", "lengths": [3, 0, 4, 1, 2]}}},
  "last_page_lens": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 1, 1]}}},
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [3, 1, 2]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 1, 0]}}},
  "k": [6, 1, 8], "v": [6, 1, 4], "k_cache": [5, 2, 1, 8], "v_cache": [5, 2, 1, 4]}},
{"op": "append_kv_cache", "name": "append_kv_cache to a page a sequence", "tensors": {
  "last_page_lens": {"dtype": "i32", "values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [4, 0, 3]}}},
  "k": [6, 1, 8], "v": [6, 1, 4], "k_cache": [3, 4, 1, 8], "v_cache": [3, 4, 1, 4]}},
{"op": "flash_attention", "max_seq_len": 5, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "q": [12, 2, 8], "k": [12, 2, 8], "v": [12, 2, 4], "out": [12, 2, 4], "lse": [2, 12]}},
{"op": "build_sla_func", "last_keys": 2, "first_keys": 1, "contextual_seq_len": 1, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 1]}}},
  "intervals": {"shape": [2, 3, 12], "dtype": "i32"}}},
{"op": "rel_bias", "tensors": {
  "timestamps": {"values": {"batch": 12, "lengths": {"kind": "linear", "from": 0, "to": 100000}}, "shape": [3, 4]},
  "position_weights": [2, 7], "time_weights": [1, 148], "rab": [3, 2, 4, 4]}},
{"op": "add_positional_embeddings", "interleave_targets": true, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 1]}}},
  "x": [12, 8], "position_embeddings": [9, 8], "out": [12, 8]}},
{"op": "add_timestamp_positional_embeddings", "interleave_targets": true, "max_contextual_seq_len": 1, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "timestamps": {"values": {"batch": 12, "lengths": {"kind": "linear", "from": 0, "to": 100000}}},
  "num_targets": {"dtype": "i32", "values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 1]}}},
  "query_time": {"values": {"batch": 3, "lengths": 110000}},
  "x": [12, 8], "position_embeddings": [9, 8], "timestamp_embeddings": [20, 8], "out": [12, 8]}},
{"op": "concat_2d_jagged", "n_prefix_from_right": 1, "tensors": {
  "offsets_left": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "offsets_right": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 3, 0]}}},
  "left": [5, 8], "right": [4, 8], "out": [9, 8]}},
{"op": "concat_2d_jagged", "name": "concat_2d_jagged replaces", "is_replace": true, "tensors": {
  "offsets_left": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "left": [5, 8], "right": [3, 1, 8], "out": [5, 8]}},
{"op": "split_2d_jagged", "n_prefix_to_right": 1, "tensors": {
  "offsets_left": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "offsets_right": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 3, 0]}}},
  "values": [9, 8], "left": [5, 8], "right": [4, 8]}},
{"op": "jagged_dense_bmm_broadcast_add", "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "jagged": [12, 6], "dense": [3, 6, 8], "bias": [3, 8], "out": [12, 8]}},
{"op": "jagged_dense_broadcast_add", "tensors": {
  "seq_offsets": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "jagged": [12, 8], "dense": [3, 8], "out": [12, 8]}},
{"op": "jagged_reduce_sum", "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "jagged": [12, 8], "out": [3, 8]}},
{"op": "jagged_to_padded_dense", "padding": 2, "tensors": {
  "offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "values": [12, 8], "out": [3, 4, 8]}},
{"op": "dense_to_jagged", "tensors": {
  "offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "dense": [3, 4, 8], "out": [12, 8]}},
{"op": "jagged_truncate_history", "contextual_seq_len": 1, "keep": 1, "tensors": {
  "seq_offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "num_targets": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 1]}}},
  "values": [12, 8], "out": [12, 8], "out_offsets": {"shape": [4], "dtype": "i64"}}},
{"op": "complete_cumsum", "tensors": {
  "values": {"shape": [9], "dtype": "i32"}, "out": {"shape": [10], "dtype": "i64"}}},
{"op": "concat_1d_jagged", "tensors": {
  "lengths_left": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "lengths_right": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 3, 0]}}},
  "left": [5], "right": [4], "out": [9]}},
{"op": "split_1d_jagged", "tensors": {
  "lengths_left": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 0, 3]}}},
  "lengths_right": {"dtype": "i32", "values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 3, 0]}}},
  "left": [5], "right": [4], "values": [9]}},
{"op": "expand_1d_jagged_to_dense", "tensors": {
  "offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 0, 4]}}},
  "values": [9], "out": [3, 4]}},
{"op": "replace_last_n_with_jagged", "tensors": {
  "lengths_left": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [2, 1, 3]}}},
  "lengths_right": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [1, 2, 0]}}},
  "left": [6, 8], "right": [3, 8], "out": [6, 8]}},
{"op": "jagged_transpose_1d", "rows": 2, "columns": 3, "tensors": {
  "offsets": {"offsets": {"batch": 6, "lengths": {"kind": "explicit", "lengths": [1, 2, 0, 1, 2, 0]}}},
  "lengths": {"values": {"batch": 6, "lengths": {"kind": "explicit", "lengths": [1, 2, 0, 1, 2, 0]}}},
  "values": [6], "out": [6], "out_offsets": {"shape": [7], "dtype": "i64"}, "out_lengths": {"shape": [6], "dtype": "i64"}}},
{"op": "sort_kv_pairs", "tensors": {
  "keys": {"shape": [9], "dtype": "i32", "deviation": 100}, "values": [9],
  "out_keys": {"shape": [9], "dtype": "i32"}, "out_values": [9]}},
{"op": "sort_by_length", "tensors": {
  "offsets": {"offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [5, 3, 4]}}},
  "out": {"shape": [3], "dtype": "i32"}}},
{"op": "jagged_remove_first_or_last_1d", "tensors": {
  "lengths": {"values": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [3, 1, 2]}}},
  "values": [6], "without_first": [3], "without_last": [3]}},
{"op": "layer_norm", "scaling": "group", "tensors": {"x": [3, 8], "weight": [8], "bias": [8],
  "out": {"shape": [3, 8], "dtype": "e4m3"}, "descale": [3, 1], "moments": [3, 1, 2]}},
{"op": "rms_norm", "scaling": "row", "tensors": {"x": [3, 8], "weight": [8], "out": {"shape": [3, 8], "dtype": "e5m2"},
  "descale": [3]}},
{"op": "swish_layer_norm", "tensors": {"x": [3, 8], "weight": [8], "bias": [8], "out": [3, 8]}},
{"op": "group_norm", "num_groups": 2, "tensors": {"x": [3, 8], "weight": [2], "bias": [2], "out": [3, 8]}},
{"op": "rms_norm_rope", "tensors": {"x": [2, 3, 8], "weight": [8], "cosine": [3, 4], "sine": [3, 4], "out": [2, 3, 8]}},
{"op": "norm_mul", "scaling": "row", "concat_u": 1, "concat_x": 1, "tensors": {"attn": [3, 8], "u": [3, 8],
  "weight": [8], "bias": [8], "out": {"shape": [3, 24], "dtype": "e4m3"}, "descale": [3]}},
{"op": "layer_norm_backward", "accumulate": true, "tensors": {
  "valid_rows": {"values": {"batch": 1, "lengths": 2}}, "x": [3, 8], "weight": [8], "bias": [8], "dout": [3, 8],
  "moments": {"shape": [3, 1, 2], "mean": 1, "deviation": 0.1}, "dresidual": [3, 8], "dx": [3, 8], "dweight": [8],
  "dbias": [8]}},
{"op": "layer_norm_backward", "name": "layer_norm_backward without weight", "tensors": {
  "x": [3, 8], "dout": [3, 8], "dx": [3, 8]}},
{"op": "softmax", "tensors": {"x": [3, 8], "out": [3, 8]}},
{"op": "dropout", "ratio": 0.5, "tensors": {"x": [3, 8], "out": [3, 8]}},
{"op": "fp8_amax", "tensors": {"x": [3, 8], "amax": [256]}},
{"op": "quantize_fp8", "scaling": "tensor", "tensors": {"x": [3, 8], "q": {"shape": [3, 8], "dtype": "e4m3"},
  "descale": [1], "amax": [256]}},
{"op": "quantize_fp8", "name": "quantize_fp8 by a given scale", "scaling": "tensor", "tensors": {"x": [3, 8],
  "q": {"shape": [3, 8], "dtype": "e5m2"}, "descale": [1], "static_descale": [1]}},
{"op": "dequantize_fp8", "scaling": "group", "tensors": {"q": {"shape": [3, 8], "dtype": "e4m3"}, "descale": [3, 1],
  "x": [3, 8]}},
{"op": "addmm", "tensors": {"x": [3, 4], "w": [4, 8], "residual": [3, 8], "out": {"shape": [3, 2], "dtype": "e4m3"},
  "out1": {"shape": [3, 2], "dtype": "e4m3"}, "out2": {"shape": [3, 3], "dtype": "e4m3"},
  "out3": {"shape": [3, 1], "dtype": "e4m3"}, "out_descale": {"shape": [1], "mean": 1, "deviation": 0}}},
{"op": "fp8_gemm", "x_scaling": "row", "w_scaling": "row", "tensors": {"x": {"shape": [3, 4], "dtype": "e4m3"},
  "w": {"shape": [8, 4], "dtype": "e4m3"}, "x_descale": [3], "w_descale": [8], "bias": [8],
  "out": {"shape": [3, 2], "dtype": "e4m3"}, "out1": {"shape": [3, 2], "dtype": "e4m3"},
  "out2": {"shape": [3, 3], "dtype": "e4m3"}, "out3": {"shape": [3, 1], "dtype": "e4m3"},
  "out_descale": {"shape": [1], "mean": 1, "deviation": 0}}},
{"op": "gated_mlp", "activation": "silu", "tensors": {"x": [3, 4], "gate": [4, 8], "up": [4, 8],
  "out": {"shape": [3, 8], "dtype": "e4m3"}, "out_descale": {"shape": [1], "mean": 1, "deviation": 0}}},
{"op": "norm_addmm", "tensors": {"x": [3, 4], "norm_weight": [4], "norm_bias": [4], "w": [4, 8], "bias": [8], "out": [3, 2],
  "out1": [3, 2], "out2": [3, 3], "out3": [3, 1]}},
{"op": "gated_addmm", "tensors": {"attn": [3, 8], "u": [3, 8], "moments": {"shape": [3, 2, 2], "mean": 1, "deviation": 0},
  "weight": [8], "bias": [8], "w": [24, 4], "residual": [3, 4], "out": [3, 4]}},
{"op": "gated_fp8_gemm", "dtype": "bf16", "tensors": {"attn": [3, 8], "u": [3, 8],
  "moments": {"shape": [3, 2, 2], "dtype": "f32", "mean": 1, "deviation": 0}, "weight": [8], "bias": [8],
  "w": {"shape": [4, 24], "dtype": "e4m3"}, "w_descale": {"shape": [4], "dtype": "f32", "mean": 1}, "residual": [3, 4],
  "out": [3, 4]}}
]})j";

/// Without slack, so that a sanitizer sees one byte too far; full of ones, as poison is.
class ExactMemory final : public Memory {
 public:
  void* allocate(size_t bytes) override {
    blocks_.emplace_back(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    std::memset(blocks_.back().get(), 0xff, bytes);
    return blocks_.back().get();
  }
  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void synchronise() override {}

 private:
  static constexpr std::align_val_t kAlignment{256};
  struct Free {
    void operator()(std::byte* block) const { ::operator delete(block, kAlignment); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
};

}  // namespace

std::vector<Calls> small_calls() { return expand(parse_workload(kDocument)); }

SmallCall::SmallCall(const Calls& calls) : memory_(std::make_unique<ExactMemory>()), stack_(calls, *memory_, 1) {}

ArgsBytes SmallCall::args() const {
  ArgsBytes bytes{};
  std::memcpy(bytes.data(), address(stack_.args(0)), op().args_size);
  return bytes;
}

const hstu_tensor& SmallCall::tensor(const TensorSlot& slot) const { return tensor_at(address(stack_.args(0)), slot); }

void SmallCall::set(const TensorSlot& slot, int64_t index, int64_t value) {
  const hstu_tensor& t = tensor(slot);
  if (t.dtype == HSTU_DTYPE_I32)
    static_cast<int32_t*>(t.data)[index] = static_cast<int32_t>(value);
  else
    static_cast<int64_t*>(t.data)[index] = value;
}

int64_t SmallCall::get(const TensorSlot& slot, int64_t index) const { return integer_at(tensor(slot), index); }

int64_t SmallCall::count(const TensorSlot& slot) const {
  const hstu_tensor& t = tensor(slot);
  int64_t count = present(t) ? 1 : 0;
  for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
  return count;
}

std::vector<std::byte> SmallCall::outputs() const {
  std::vector<std::byte> bytes;
  for (const TensorSlot& slot : op().tensors) {
    if (slot.role != TensorRole::output || !present(tensor(slot))) continue;
    const auto* data = static_cast<const std::byte*>(tensor(slot).data);
    const int64_t size = count(slot) * size_of(tensor(slot).dtype);  // all of them are contiguous
    bytes.insert(bytes.end(), data, data + size);
  }
  return bytes;
}

}  // namespace hstujit::test
