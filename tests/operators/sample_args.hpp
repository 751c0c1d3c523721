// Valid args of each operator over one block of memory, for tests to spoil. prepare() reads no element, so the memory
// is shared by inputs and outputs only in address, never in place.
#pragma once

#include "operators/operators.hpp"
#include "support/checked_operators.hpp"
#include "support/error.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace hstujit::test {

/// Address `slot` of memory that is never touched: slots lie 1 MiB apart, aligned to 256 bytes.
inline void* slot(int index, int64_t byte_offset = 0) {
  return reinterpret_cast<void*>((uintptr_t{1} << 40) + (static_cast<uintptr_t>(index) << 20) +
                                 static_cast<uintptr_t>(byte_offset));
}

/// A matrix at a slot, with any strides.
inline hstu_tensor stored(int index, hstu_dtype dtype, int64_t rows, int64_t columns, int64_t row_stride,
                          int64_t column_stride) {
  return {slot(index), dtype, 2, 0, {rows, columns}, {row_stride, column_stride}};
}

/// x, y [40, 96] bf16; weight and bias f32.
inline hstu_layer_norm_args sample_layer_norm() {
  auto args = sized<hstu_layer_norm_args>();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 40, 96);
  args.weight = hstu_vector(slot(1), HSTU_DTYPE_F32, 96);
  args.bias = hstu_vector(slot(2), HSTU_DTYPE_F32, 96);
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_BF16, 40, 96);
  return args;
}

/// x [40, 64], w [64, 96], y [40, 96], all f16.
inline hstu_addmm_args sample_addmm() {
  auto args = sized<hstu_addmm_args>();
  args.x = hstu_matrix(slot(0), HSTU_DTYPE_F16, 40, 64);
  args.w = hstu_matrix(slot(1), HSTU_DTYPE_F16, 64, 96);
  args.residual = hstu_matrix(slot(2), HSTU_DTYPE_F16, 40, 96);
  args.out = hstu_matrix(slot(3), HSTU_DTYPE_F16, 40, 96);
  args.activation = HSTU_ACTIVATION_SILU;
  return args;
}

/// 50 rows in 3 sequences, 2 heads of 64 (q, k) and 32 (v, out), bf16, with targets and per-row scales.
inline hstu_attention_args sample_attention() {
  auto args = sized<hstu_attention_args>();
  args.q = hstu_heads(slot(0), HSTU_DTYPE_BF16, 50, 2, 64);
  args.k = hstu_heads(slot(1), HSTU_DTYPE_BF16, 50, 2, 64);
  args.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 50, 2, 32);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 50, 2, 32);
  args.seq_offsets = hstu_vector(slot(4), HSTU_DTYPE_I64, 4);
  args.mask.num_targets = hstu_vector(slot(5), HSTU_DTYPE_I32, 3);
  args.attn_scale = hstu_vector(slot(6), HSTU_DTYPE_F32, 50);
  args.max_seq_len = 20;
  return args;
}

/// The same in FP8 with a scale a head, without attn_scale.
inline hstu_attention_fp8_args sample_attention_fp8() {
  auto args = sized<hstu_attention_fp8_args>();
  args.q = hstu_heads(slot(0), HSTU_DTYPE_E4M3, 50, 2, 64);
  args.k = hstu_heads(slot(1), HSTU_DTYPE_E4M3, 50, 2, 64);
  args.v = hstu_heads(slot(2), HSTU_DTYPE_E4M3, 50, 2, 32);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 50, 2, 32);
  args.q_descale = hstu_vector(slot(4), HSTU_DTYPE_F32, 2);
  args.k_descale = hstu_vector(slot(5), HSTU_DTYPE_F32, 2);
  args.v_descale = hstu_vector(slot(6), HSTU_DTYPE_F32, 2);
  args.scaling = HSTU_FP8_ATTENTION_HEAD;
  args.seq_offsets = hstu_vector(slot(7), HSTU_DTYPE_I64, 4);
  args.mask.num_targets = hstu_vector(slot(8), HSTU_DTYPE_I32, 3);
  args.max_seq_len = 20;
  return args;
}

/// 5 new rows in each of 3 sequences of 50 rows, 4 heads of q and 2 of k and v, bf16, with targets.
inline hstu_delta_attention_args sample_delta() {
  auto args = sized<hstu_delta_attention_args>();
  args.q = hstu_heads(slot(0), HSTU_DTYPE_BF16, 15, 4, 64);
  args.k = hstu_heads(slot(1), HSTU_DTYPE_BF16, 50, 2, 64);
  args.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 50, 2, 32);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 15, 4, 32);
  args.seq_offsets = hstu_vector(slot(4), HSTU_DTYPE_I64, 4);
  args.mask.num_targets = hstu_vector(slot(5), HSTU_DTYPE_I32, 3);
  args.max_seq_len = 20;
  return args;
}

inline hstu_tensor sample_pages(int index, int64_t dim) {
  return {slot(index), HSTU_DTYPE_BF16, 4, 0, {9, 32, 2, dim}, {}};
}

/// The same against 9 pages of 32 rows.
inline hstu_paged_attention_args sample_paged() {
  auto args = sized<hstu_paged_attention_args>();
  args.q = hstu_heads(slot(0), HSTU_DTYPE_BF16, 15, 4, 64);
  args.k = hstu_heads(slot(1), HSTU_DTYPE_BF16, 15, 2, 64);
  args.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 15, 2, 32);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 15, 4, 32);
  args.k_cache = sample_pages(6, 64);
  args.v_cache = sample_pages(7, 32);
  args.page_offsets = hstu_vector(slot(8), HSTU_DTYPE_I32, 4);
  args.page_ids = hstu_vector(slot(9), HSTU_DTYPE_I32, 7);
  args.last_page_lens = hstu_vector(slot(10), HSTU_DTYPE_I32, 3);
  args.mask.num_targets = hstu_vector(slot(5), HSTU_DTYPE_I64, 3);
  args.max_seq_len = 100;
  return args;
}

/// 15 new rows of 3 sequences to the same pages.
inline hstu_append_kv_cache_args sample_append() {
  auto args = sized<hstu_append_kv_cache_args>();
  args.k = hstu_heads(slot(1), HSTU_DTYPE_BF16, 15, 2, 64);
  args.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 15, 2, 32);
  args.k_cache = sample_pages(6, 64);
  args.v_cache = sample_pages(7, 32);
  args.page_offsets = hstu_vector(slot(8), HSTU_DTYPE_I32, 4);
  args.page_ids = hstu_vector(slot(9), HSTU_DTYPE_I32, 7);
  args.last_page_lens = hstu_vector(slot(10), HSTU_DTYPE_I32, 3);
  args.seq_offsets = hstu_vector(slot(4), HSTU_DTYPE_I64, 4);
  args.num_targets = hstu_vector(slot(5), HSTU_DTYPE_I64, 3);
  return args;
}

/// attn, u [40, 96] f32 with 4 groups and both concatenations.
inline hstu_norm_mul_args sample_norm_mul() {
  auto args = sized<hstu_norm_mul_args>();
  args.attn = hstu_matrix(slot(0), HSTU_DTYPE_F32, 40, 96);
  args.u = hstu_matrix(slot(1), HSTU_DTYPE_F32, 40, 96);
  args.weight = hstu_vector(slot(2), HSTU_DTYPE_F32, 4);
  args.bias = hstu_vector(slot(3), HSTU_DTYPE_F32, 4);
  args.out = hstu_matrix(slot(4), HSTU_DTYPE_F32, 40, 288);
  args.concat_u = args.concat_x = args.silu_u = 1;
  args.num_groups = 4;
  return args;
}

constexpr hstu_status kInvalid = HSTU_ERROR_INVALID_ARGUMENT, kShape = HSTU_ERROR_SHAPE_MISMATCH,
                      kDtype = HSTU_ERROR_UNSUPPORTED_DTYPE, kUnsupported = HSTU_ERROR_UNSUPPORTED;

/// One way to spoil valid args, and what the error must be.
template <class Args>
struct Spoiled {
  const char* name;
  void (*spoil)(Args&);
  hstu_status status;
  const char* text;  ///< the message must hold it: the field, with its value where that says more
};

template <class Args>
std::ostream& operator<<(std::ostream& out, const Spoiled<Args>& spoiled) {
  return out << spoiled.name;
}

/// Names the tests of a suite over Spoiled, or over anything else that has a name.
inline constexpr auto kNameOf = [](const auto& info) { return std::string(info.param.name); };

template <class Args>
void expect_refused(Args args, const Spoiled<Args>& spoiled) {
  static_cast<void>(notes_operator<Check::bad_input, Args>);
  ASSERT_NO_THROW(prepare(args)) << "the sample must be valid before it is spoiled";
  spoiled.spoil(args);
  try {
    prepare(args);
    ADD_FAILURE() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), spoiled.status) << error.message();
    EXPECT_NE(error.message().find(spoiled.text), std::string::npos) << error.message();
  }
}

/// Stores a value that the enum lacks, as a C caller can.
template <class Enum>
void set_code(Enum& target, int code) {
  static_assert(std::is_enum_v<Enum> && sizeof target == sizeof code);
  std::memcpy(&target, &code, sizeof target);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kHuge = int64_t{1} << 62;

}  // namespace hstujit::test
