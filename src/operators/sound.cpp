#include "operators/sound.hpp"

#include <algorithm>

namespace hstujit {
namespace {

bool sound(const FieldInfo& info, int32_t value) {
  switch (info.kind) {
    case FieldKind::dtype:
      return value >= HSTU_DTYPE_NONE && value <= HSTU_DTYPE_F64;
    case FieldKind::bucket:
      return value == bucket(value);
    case FieldKind::exact:
      break;
  }
  return true;
}

}  // namespace

bool sound(const Problem& problem) {
  if (static_cast<uint32_t>(problem.op) >= static_cast<uint32_t>(kOpCount)) return false;
  size_t index = 0;
  for (const FieldInfo& info : fields_of(problem.op))
    if (!sound(info, problem.field[index++])) return false;
  return std::all_of(problem.field.begin() + static_cast<std::ptrdiff_t>(index), problem.field.end(),
                     [](int32_t value) { return value == 0; });
}

}  // namespace hstujit
