// What random problems of tests are drawn with.
#pragma once

#include "support/host_tensor.hpp"

#include <cstdint>
#include <initializer_list>

namespace hstujit::test {

/// Numbers drawn one after the other, the same on every machine.
class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(seed) {}

  int64_t below(int64_t count) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(count))); }
  int64_t up_to(int64_t most) { return 1 + below(most); }
  bool coin() { return below(2) == 1; }
  bool seldom() { return below(4) == 0; }
  template <class T>
  T any(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }
  hstu_dtype floating() { return any({HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16}); }
  hstu_dtype integer() { return any({HSTU_DTYPE_I32, HSTU_DTYPE_I64}); }
  hstu_dtype fp8() { return any({HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2}); }

 private:
  Random random_;
};

}  // namespace hstujit::test
