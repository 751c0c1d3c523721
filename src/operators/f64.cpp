#include "operators/f64.hpp"

#include "operators/operators.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit {

bool computes_in_f64(const Problem& problem) {
  int index = 0;
  for (const FieldInfo& info : fields_of(problem.op))
    if (problem[index++] == HSTU_DTYPE_F64 && info.kind == FieldKind::dtype) return true;
  return false;
}

void refuse_f64(const Problem& problem, const void* args) {
  if (!computes_in_f64(problem)) return;
  const auto is_f64 = [&](const TensorSlot& slot) { return tensor_at(args, slot).dtype == HSTU_DTYPE_F64; };
  const auto slot = std::ranges::find_if(operator_of(problem.op).tensors, is_f64);
  fail(HSTU_ERROR_UNSUPPORTED_DTYPE, "{}.dtype = f64: only device \"cpu\" computes with it; use f32, f16 or bf16",
       slot->name);
}

}  // namespace hstujit
