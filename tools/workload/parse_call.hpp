// The parts of a workload file that describe lengths and calls, and the words they share with the rest.
#pragma once

#include "workload/json_object.hpp"
#include "workload/workload.hpp"

#include <string>
#include <utility>

namespace hstujit {

template <class T>
using Word = std::pair<std::string_view, T>;

inline constexpr Word<hstu_dtype> kElementTypes[] = {
    {"bf16", HSTU_DTYPE_BF16}, {"f16", HSTU_DTYPE_F16}, {"f32", HSTU_DTYPE_F32}};
inline constexpr Word<hstu_dtype> kIntegerTypes[] = {{"i64", HSTU_DTYPE_I64}, {"i32", HSTU_DTYPE_I32}};

inline constexpr int64_t kMaxLength = int64_t{1} << 30;
inline constexpr Range kAnyLength{0, kMaxLength}, kBatch{0, int64_t{1} << 20};

/// Lengths of `batch` sequences; a number is a constant length.
Lengths parse_lengths(const Json& value, const std::string& pointer, int64_t batch);

/// The members "tensors" and the operator's attributes; dtype: of tensors that name none.
CallSpec parse_call(Op op, JsonObject& in, hstu_dtype dtype);

}  // namespace hstujit
