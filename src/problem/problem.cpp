#include "problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace hstujit {
namespace {

constexpr FieldKind kExact = FieldKind::exact, kDtype = FieldKind::dtype, kBucket = FieldKind::bucket;

constexpr FieldInfo kLayerNormFields[] = {{"dtype", kDtype}, {"weight_dtype", kDtype}, {"has_weight", kExact},
                                          {"dim", kExact},   {"vector", kExact},       {"rows", kBucket}};
constexpr FieldInfo kAddmmFields[] = {
    {"dtype", kDtype},      {"n", kExact},          {"k", kExact},           {"bias", kExact},
    {"bias_dtype", kDtype}, {"activation", kExact}, {"act_columns", kExact}, {"weight_transposed", kExact},
    {"vector_x", kExact},   {"vector_w", kExact},   {"vector_z", kExact},    {"m", kBucket}};
constexpr FieldInfo kAttentionFields[] = {
    {"dtype", kDtype},        {"head_dim_qk", kExact},   {"head_dim_v", kExact},  {"num_heads", kExact},
    {"offset_dtype", kDtype}, {"target_dtype", kDtype},  {"mask", kExact},        {"contextual", kExact},
    {"max_attn_len", kExact}, {"min_full_attn", kExact}, {"attn_scale", kExact},  {"vector", kExact},
    {"batch", kBucket},       {"total", kBucket},        {"max_seq_len", kBucket}};
constexpr FieldInfo kNormMulFields[] = {
    {"dtype", kDtype},    {"weight_dtype", kDtype}, {"dim", kExact},    {"groups", kExact}, {"activation", kExact},
    {"concat_u", kExact}, {"concat_x", kExact},     {"silu_u", kExact}, {"vector", kExact}, {"rows", kBucket}};

struct OpEntry {
  std::string_view name;
  std::span<const FieldInfo> fields;
};
const OpEntry kOps[kOpCount] = {{"layer_norm", kLayerNormFields},
                                {"addmm", kAddmmFields},
                                {"hstu_attention", kAttentionFields},
                                {"norm_mul", kNormMulFields}};

struct DtypeEntry {
  hstu_dtype dtype;
  std::string_view name;
  int bytes;
};
constexpr DtypeEntry kDtypes[] = {{HSTU_DTYPE_NONE, "none", 0}, {HSTU_DTYPE_F32, "f32", 4}, {HSTU_DTYPE_F16, "f16", 2},
                                  {HSTU_DTYPE_BF16, "bf16", 2}, {HSTU_DTYPE_I32, "i32", 4}, {HSTU_DTYPE_I64, "i64", 8}};

const OpEntry& entry(Op op) { return kOps[static_cast<size_t>(op)]; }

std::string value_text(const FieldInfo& info, int32_t value) {
  return info.kind == FieldKind::dtype ? std::string(name_of(static_cast<hstu_dtype>(value)))
                                       : fmt::format("{}", value);
}

std::optional<int32_t> parse_value(const FieldInfo& info, std::string_view word) {
  if (info.kind == FieldKind::dtype) {
    const auto dtype = dtype_named(word);
    return dtype ? std::optional<int32_t>(*dtype) : std::nullopt;
  }
  int32_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Takes the next blank-separated word off the front of text.
std::string_view next_word(std::string_view& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

std::span<const FieldInfo> fields_of(Op op) { return entry(op).fields; }
std::string_view name_of(Op op) { return entry(op).name; }

std::optional<Op> op_named(std::string_view name) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOps[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

std::string_view name_of(hstu_dtype dtype) {
  for (const DtypeEntry& e : kDtypes)
    if (e.dtype == dtype) return e.name;
  return "unknown";
}

std::optional<hstu_dtype> dtype_named(std::string_view name) {
  for (const DtypeEntry& e : kDtypes)
    if (e.name == name) return e.dtype;
  return std::nullopt;
}

int size_of(hstu_dtype dtype) {
  for (const DtypeEntry& e : kDtypes)
    if (e.dtype == dtype) return e.bytes;
  return 0;
}

int32_t bucket(int64_t value) {
  constexpr int64_t kLargest = 1 << 30;
  if (value <= 0) return 0;
  return static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(std::min(value, kLargest))));
}

std::string text(const Problem& problem) {
  std::string out(name_of(problem.op));
  int index = 0;
  for (const FieldInfo& info : fields_of(problem.op))
    out += fmt::format(" {}={}", info.name, value_text(info, problem[index++]));
  return out;
}

std::optional<Problem> parse_problem(std::string_view text) {
  const auto op = op_named(next_word(text));
  if (!op) return std::nullopt;
  Problem problem{*op, {}};
  int index = 0;
  for (const FieldInfo& info : fields_of(*op)) {
    const std::string_view word = next_word(text);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || word.substr(0, equals) != info.name) return std::nullopt;
    const auto value = parse_value(info, word.substr(equals + 1));
    if (!value) return std::nullopt;
    problem[index++] = *value;
  }
  return next_word(text).empty() ? std::optional(problem) : std::nullopt;
}

}  // namespace hstujit
