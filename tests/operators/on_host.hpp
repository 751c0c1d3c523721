// Calls of the reference on tensors that are vectors of the host.
#pragma once

#include "operators/operators.hpp"

#include <vector>

namespace hstujit::reference {

inline hstu_tensor vector(const std::vector<int32_t>& values) {
  return hstu_vector(values.data(), HSTU_DTYPE_I32, static_cast<int64_t>(values.size()));
}
inline hstu_tensor vector(const std::vector<int64_t>& values) {
  return hstu_vector(values.data(), HSTU_DTYPE_I64, static_cast<int64_t>(values.size()));
}

template <class Args>
void execute(Args& args) {
  args.struct_size = sizeof args;
  prepare(args);
  run(args);
}

}  // namespace hstujit::reference
