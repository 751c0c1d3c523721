// The steps that the prepare() of every attention operator is made of.
#pragma once

#include "operators/checks.hpp"
#include "operators/operators.hpp"

#include <hstujit/hstujit.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace hstujit::attention_extras {
/// kBiasInChunks: rows, heads and sequences begin at multiples of 16 bytes, and none lies over another.
enum : int32_t { kNoBias = 0, kBias = 1, kBiasInChunks = 2 };
}  // namespace hstujit::attention_extras

namespace hstujit::attention_checks {

enum : int32_t { kNoScale = 0, kOneScale = 1, kRowScale = 2 };
enum : int32_t { kNoContext = 0, kOneContext = 1, kOwnContexts = 2 };

inline constexpr std::string_view kMaskWords[] = {"causal", "full", "local", "intervals"};
/// The numbers of hstu_mask_options, as members of an args struct.
template <class Args>
inline constexpr std::array<ScalarSlot, 7> kMaskScalars = {
    {{"mask", offsetof(Args, mask.kind), ScalarSlot::Kind::i32, kMaskWords},
     {"contextual_seq_len", offsetof(Args, mask.contextual_seq_len), ScalarSlot::Kind::i64},
     {"max_attn_len", offsetof(Args, mask.max_attn_len), ScalarSlot::Kind::i64},
     {"min_full_attn_seq_len", offsetof(Args, mask.min_full_attn_seq_len), ScalarSlot::Kind::i64},
     {"target_group_size", offsetof(Args, mask.target_group_size), ScalarSlot::Kind::i32, {}, {1}},
     {"window_left", offsetof(Args, mask.window_left), ScalarSlot::Kind::i64},
     {"window_right", offsetof(Args, mask.window_right), ScalarSlot::Kind::i64}}};

/// 1 to 256. UNSUPPORTED.
void head_dim(const char* name, const checks::Tensor& a);

/// Of attention and attention_fp8: extents beyond the rows, which belong to all four, and that out overlaps
/// nothing.
void heads(const checks::Tensor& q, const checks::Tensor& k, const checks::Tensor& v, const checks::Tensor& out);

/// How many heads of q share one of k, q and k being [rows, heads, dim]. SHAPE_MISMATCH unless all as many.
int32_t heads_per_kv(const checks::Tensor& q, const checks::Tensor& k);

/// Offsets that are there: batch + 1 integers, apart from the output.
checks::Tensor offsets(const char* name, hstu_tensor& t, const checks::Tensor& out);
/// num_softmax_heads lies within the heads.
void softmax_heads(int64_t num_softmax_heads, int64_t num_heads);
/// num_softmax_heads of an operator whose heads all weigh by silu: UNSUPPORTED unless 0.
void no_softmax_heads(int32_t num_softmax_heads);
/// num_targets, if it is there: batch integers.
void targets(hstu_tensor& t, int64_t batch, const checks::Tensor& out);
/// num_contexts, if it is there: batch integers, in place of contextual_seq_len. Returns kNoContext, kOneContext or
/// kOwnContexts.
int32_t contexts(hstu_tensor& t, int64_t contextual_seq_len, int64_t batch, const checks::Tensor& out);
/// attn_scale; returns kNoScale, kOneScale or kRowScale.
int32_t scale(hstu_tensor& t, const checks::Tensor& out);
/// rab, if it is there: a number for each pair of positions of the sequences, for q's heads or for all. Returns
/// kNoBias, kBias or kBiasInChunks.
int32_t bias(hstu_tensor& t, int64_t batch, const checks::Tensor& q, const checks::Tensor& out);
/// max_seq_len; scaling_seqlen, which follows it by default.
void lengths(int64_t max_seq_len, int64_t& scaling_seqlen);
/// alpha, or its default.
float alpha(float given, int64_t head_dim);

/// How many intervals a row has at most.
inline constexpr int64_t kMaxIntervals = 32;

/// Checks the options against the mask and each other; those that say nothing get one form. Returns the number of
/// intervals a row has.
int32_t mask(hstu_mask_options& options, const checks::Tensor& q, const checks::Tensor& out);

}  // namespace hstujit::attention_checks
