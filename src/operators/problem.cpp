#include "operators/problem.hpp"

#include "operators/aliases.hpp"
#include "operators/operators.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace hstujit {
namespace {

#define HSTUJIT_NAME(op, args, function) #op,
constexpr std::string_view kNames[kOpCount] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_NAME)};
#undef HSTUJIT_NAME

struct DtypeEntry {
  hstu_dtype dtype;
  std::string_view name;
  int bytes;
};
constexpr DtypeEntry kDtypes[] = {
    {HSTU_DTYPE_NONE, "none", 0}, {HSTU_DTYPE_F32, "f32", 4},   {HSTU_DTYPE_F16, "f16", 2},
    {HSTU_DTYPE_BF16, "bf16", 2}, {HSTU_DTYPE_I32, "i32", 4},   {HSTU_DTYPE_I64, "i64", 8},
    {HSTU_DTYPE_E4M3, "e4m3", 1}, {HSTU_DTYPE_E5M2, "e5m2", 1}, {HSTU_DTYPE_U8, "u8", 1},
    {HSTU_DTYPE_I16, "i16", 2},   {HSTU_DTYPE_F64, "f64", 8}};

std::string value_text(const FieldInfo& info, int32_t value) {
  return info.kind == FieldKind::dtype ? std::string(name_of(static_cast<hstu_dtype>(value))) : std::to_string(value);
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

std::span<const FieldInfo> fields_of(Op op) { return operator_of(op).fields; }
std::string_view name_of(Op op) { return kNames[static_cast<size_t>(op)]; }

std::optional<Op> op_named(std::string_view name) {
  for (int i = 0; i < kOpCount; ++i)
    if (kNames[i] == name) return static_cast<Op>(i);
  return op_named_before(name);
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
  for (const FieldInfo& info : fields_of(problem.op)) {
    const int32_t value = problem[index++];
    if (value != 0 || !info.rare) out.append(" ").append(info.name).append("=").append(value_text(info, value));
  }
  return out;
}

std::optional<Problem> parse_problem(std::string_view text) {
  const auto op = op_named(next_word(text));
  if (!op) return std::nullopt;
  Problem problem{*op, {}};
  int index = 0;
  for (const FieldInfo& info : fields_of(*op)) {
    std::string_view behind = text;
    const std::string_view word = next_word(behind);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || word.substr(0, equals) != info.name) {
      if (!info.rare) return std::nullopt;
      ++index;
      continue;
    }
    text = behind;
    const auto value = parse_value(info, word.substr(equals + 1));
    if (!value) return std::nullopt;
    problem[index++] = *value;
  }
  return next_word(text).empty() ? std::optional(problem) : std::nullopt;
}

}  // namespace hstujit
