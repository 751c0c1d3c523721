// Words of a product's operand a, which wgmma reads from registers until it is waited for.
#pragma once
#include "prim/lanes.cuh"

namespace hstu::prim {

// Behind the wait: until here the words stay where they are. ptxas takes the operand of an issued product for read. In
// a loop whose next round makes new words before it waits for the product, it puts them over those that are still read;
// a use behind the wait keeps it from that. This one is a store that never happens.
template <int N>
HSTU_PRIM void hold_operand_words(const u32 (&a)[N], u32 smem) {
  static_assert(N % 4 == 0, "a product takes four");
#pragma unroll
  for (int i = 0; i < N; i += 4)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %0, 0;\n"
        "@p st.shared.v4.b32 [%1], {%2, %3, %4, %5};\n"
        "}" ::"r"(opaque_zero()),
        "r"(smem), "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(a[i + 3])
        : "memory");
}

}  // namespace hstu::prim
