// Warpgroup matrix products (sm_90a): d = a b or d += a b for 64 rows x N columns x 32 bytes of k, asynchronously. b
// comes from shared memory, a from there too (ss) or from registers (rs). Thread t of the warpgroup, warp w = t / 32,
// lane l = t % 32, holds
//   d[i]           row 16w + l/4 + 8 ((i >> 1) & 1),  column 8 (i >> 2) + 2 (l % 4) + (i & 1)
//   a, 16 bits     word r: row 16w + l/4 + 8 (r & 1), k = 2 (l % 4) + 8 (r >> 1) and the next
//   a, 8 bits      word r: the same row,              k = 4 (l % 4) + 16 (r >> 1) and the next three
// so a pair of f32 accumulators packed to 16 bits is a word of the next product's a. PTX ISA "wgmma.mma_async".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

enum Swizzle : u32 { kSwizzleNone = 0, kSwizzle128 = 1, kSwizzle64 = 2, kSwizzle32 = 3 };

// Descriptor of an operand in shared memory; leading and stride in bytes. Buffers lie on 1024 bytes; an operand may
// start at any row of one. k-major is contiguous along k, extent-major along m or n.
//   k-major, swizzle of W bytes       stride 8 W (next 8 rows), leading ignored; next step of k: +32 bytes
//   extent-major, swizzle of W bytes  stride 8 W (next 8 k), leading: next W bytes of the extent; next 16 k: +16 W
//   k-major, no swizzle               stride: next 8 rows, leading: next 16 bytes of k
//   extent-major, no swizzle          stride: next 8 elements of the extent, leading: next 8 k
HSTU_PRIM constexpr u64 smem_descriptor(u32 addr, u32 leading, u32 stride, Swizzle swizzle) {
  return static_cast<u64>((addr & 0x3ffffu) >> 4) | static_cast<u64>(leading >> 4) << 16 |
         static_cast<u64>(stride >> 4) << 32 | static_cast<u64>(swizzle) << 62;
}
// The same operand `bytes` further on.
HSTU_PRIM constexpr u64 advance_descriptor(u64 descriptor, u32 bytes) { return descriptor + (bytes >> 4); }

// Before the first product, and again whenever a thread has touched accumulators or words of a since.
HSTU_PRIM void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
HSTU_PRIM void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most N groups are in flight: accumulators, words of a and shared memory of the others are free then.
template <int N>
HSTU_PRIM void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// A fence for the compiler: no code on these accumulators moves across it (CUTLASS: warpgroup_fence_operand).
template <int N>
HSTU_PRIM void warpgroup_fence_operand(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Which products there are: bf16 and f16 with themselves, the FP8 types with each other.
template <class A, class B>
constexpr int wgmma_types = -1;
template <>
constexpr int wgmma_types<bf16, bf16> = 0;
template <>
constexpr int wgmma_types<f16, f16> = 1;
template <>
constexpr int wgmma_types<e4m3, e4m3> = 2;
template <>
constexpr int wgmma_types<e5m2, e5m2> = 3;
template <>
constexpr int wgmma_types<e4m3, e5m2> = 4;
template <>
constexpr int wgmma_types<e5m2, e4m3> = 5;

// Wgmma<N>::ss<A, B, kMajorA, kMajorB, kSignA, kSignB>(d, a, b, add): d = a b, plus d if add is not 0.
// Wgmma<N>::rs<A, B, kMajorB, kSignA, kSignB>(d, a words, b, add). kMajor 1: extent-major (16 bits only). kSign -1
// negates.
template <int N>
struct Wgmma;

// clang-format off
#define HSTU_WG_P4 "%0,%1,%2,%3"
#define HSTU_WG_P8 HSTU_WG_P4 ",%4,%5,%6,%7"
#define HSTU_WG_P12 HSTU_WG_P8 ",%8,%9,%10,%11"
#define HSTU_WG_P16 HSTU_WG_P12 ",%12,%13,%14,%15"
#define HSTU_WG_P20 HSTU_WG_P16 ",%16,%17,%18,%19"
#define HSTU_WG_P24 HSTU_WG_P20 ",%20,%21,%22,%23"
#define HSTU_WG_P32 HSTU_WG_P24 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define HSTU_WG_P40 HSTU_WG_P32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define HSTU_WG_P48 HSTU_WG_P40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define HSTU_WG_P56 HSTU_WG_P48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define HSTU_WG_P64 HSTU_WG_P56 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define HSTU_WG_P72 HSTU_WG_P64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define HSTU_WG_P80 HSTU_WG_P72 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define HSTU_WG_P88 HSTU_WG_P80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define HSTU_WG_P96 HSTU_WG_P88 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define HSTU_WG_P104 HSTU_WG_P96 ",%96,%97,%98,%99,%100,%101,%102,%103"
#define HSTU_WG_P112 HSTU_WG_P104 ",%104,%105,%106,%107,%108,%109,%110,%111"
#define HSTU_WG_P120 HSTU_WG_P112 ",%112,%113,%114,%115,%116,%117,%118,%119"
#define HSTU_WG_P128 HSTU_WG_P120 ",%120,%121,%122,%123,%124,%125,%126,%127"
#define HSTU_WG_D4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define HSTU_WG_D8 HSTU_WG_D4, "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define HSTU_WG_D12 HSTU_WG_D8, "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define HSTU_WG_D16 HSTU_WG_D12, "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define HSTU_WG_D20 HSTU_WG_D16, "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define HSTU_WG_D24 HSTU_WG_D20, "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define HSTU_WG_D32 HSTU_WG_D24, "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
  "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define HSTU_WG_D40 HSTU_WG_D32, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), \
  "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define HSTU_WG_D48 HSTU_WG_D40, "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), \
  "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define HSTU_WG_D56 HSTU_WG_D48, "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), \
  "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define HSTU_WG_D64 HSTU_WG_D56, "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), \
  "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define HSTU_WG_D72 HSTU_WG_D64, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), \
  "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define HSTU_WG_D80 HSTU_WG_D72, "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), \
  "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define HSTU_WG_D88 HSTU_WG_D80, "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), \
  "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define HSTU_WG_D96 HSTU_WG_D88, "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), \
  "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define HSTU_WG_D104 HSTU_WG_D96, "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), \
  "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define HSTU_WG_D112 HSTU_WG_D104, "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), \
  "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define HSTU_WG_D120 HSTU_WG_D112, "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), \
  "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define HSTU_WG_D128 HSTU_WG_D120, "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), \
  "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// R accumulators; x0..x8 are the numbers of the operands behind them.
#define HSTU_WG_ASM(N, R, x, K, types, operands, ...)                                                         \
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #x ", 0;\n"                                             \
               " wgmma.mma_async.sync.aligned.m64n" #N K ".f32." types " {" HSTU_WG_P##R "}, " operands ";\n}" \
               : HSTU_WG_D##R : __VA_ARGS__)
#define HSTU_WG_SS16(N, R, types, x0, x1, x2, x3, x4, x5, x6)                                                    \
  HSTU_WG_ASM(N, R, x2, "k16", types, "%" #x0 ", %" #x1 ", p, %" #x3 ", %" #x4 ", %" #x5 ", %" #x6,              \
              "l"(a), "l"(b), "r"(add), "n"(kSignA), "n"(kSignB), "n"(kMajorA), "n"(kMajorB))
#define HSTU_WG_SS8(N, R, types, x0, x1, x2, x3, x4)                                                             \
  HSTU_WG_ASM(N, R, x2, "k32", types, "%" #x0 ", %" #x1 ", p, %" #x3 ", %" #x4,                                  \
              "l"(a), "l"(b), "r"(add), "n"(kSignA), "n"(kSignB))
#define HSTU_WG_RS16(N, R, types, x0, x1, x2, x3, x4, x5, x6, x7, x8)                                            \
  HSTU_WG_ASM(N, R, x5, "k16", types,                                                                            \
              "{%" #x0 ", %" #x1 ", %" #x2 ", %" #x3 "}, %" #x4 ", p, %" #x6 ", %" #x7 ", %" #x8,                \
              "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add), "n"(kSignA), "n"(kSignB), "n"(kMajorB))
#define HSTU_WG_RS8(N, R, types, x0, x1, x2, x3, x4, x5, x6, x7)                                                 \
  HSTU_WG_ASM(N, R, x5, "k32", types,                                                                            \
              "{%" #x0 ", %" #x1 ", %" #x2 ", %" #x3 "}, %" #x4 ", p, %" #x6 ", %" #x7,                          \
              "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(add), "n"(kSignA), "n"(kSignB))

#define HSTU_WGMMA(N, R, x0, x1, x2, x3, x4, x5, x6, x7, x8)                                                     \
  template <>                                                                                                    \
  struct Wgmma<N> {                                                                                              \
    enum : int { kRegisters = R };                                                                         \
    template <class A, class B, int kMajorA = 0, int kMajorB = 0, int kSignA = 1, int kSignB = 1>                \
    HSTU_PRIM static void ss(float (&d)[R], u64 a, u64 b, int add) {                                             \
      constexpr int kTypes = wgmma_types<A, B>;                                                                  \
      static_assert(kTypes >= 0, "wgmma multiplies bf16, f16, or FP8 by FP8");                                   \
      static_assert(kTypes < 2 || (kMajorA == 0 && kMajorB == 0), "FP8 operands are k-major");                   \
      if constexpr (kTypes == 0) HSTU_WG_SS16(N, R, "bf16.bf16", x0, x1, x2, x3, x4, x5, x6);                    \
      if constexpr (kTypes == 1) HSTU_WG_SS16(N, R, "f16.f16", x0, x1, x2, x3, x4, x5, x6);                      \
      if constexpr (kTypes == 2) HSTU_WG_SS8(N, R, "e4m3.e4m3", x0, x1, x2, x3, x4);                             \
      if constexpr (kTypes == 3) HSTU_WG_SS8(N, R, "e5m2.e5m2", x0, x1, x2, x3, x4);                             \
      if constexpr (kTypes == 4) HSTU_WG_SS8(N, R, "e4m3.e5m2", x0, x1, x2, x3, x4);                             \
      if constexpr (kTypes == 5) HSTU_WG_SS8(N, R, "e5m2.e4m3", x0, x1, x2, x3, x4);                             \
    }                                                                                                            \
    template <class A, class B, int kMajorB = 0, int kSignA = 1, int kSignB = 1>                                 \
    HSTU_PRIM static void rs(float (&d)[R], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) {                    \
      constexpr int kTypes = wgmma_types<A, B>;                                                                  \
      static_assert(kTypes >= 0, "wgmma multiplies bf16, f16, or FP8 by FP8");                                   \
      static_assert(kTypes < 2 || kMajorB == 0, "FP8 operands are k-major");                                     \
      if constexpr (kTypes == 0) HSTU_WG_RS16(N, R, "bf16.bf16", x0, x1, x2, x3, x4, x5, x6, x7, x8);            \
      if constexpr (kTypes == 1) HSTU_WG_RS16(N, R, "f16.f16", x0, x1, x2, x3, x4, x5, x6, x7, x8);              \
      if constexpr (kTypes == 2) HSTU_WG_RS8(N, R, "e4m3.e4m3", x0, x1, x2, x3, x4, x5, x6, x7);                 \
      if constexpr (kTypes == 3) HSTU_WG_RS8(N, R, "e5m2.e5m2", x0, x1, x2, x3, x4, x5, x6, x7);                 \
      if constexpr (kTypes == 4) HSTU_WG_RS8(N, R, "e4m3.e5m2", x0, x1, x2, x3, x4, x5, x6, x7);                 \
      if constexpr (kTypes == 5) HSTU_WG_RS8(N, R, "e5m2.e4m3", x0, x1, x2, x3, x4, x5, x6, x7);                 \
    }                                                                                                            \
  };

HSTU_WGMMA(8, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12)
HSTU_WGMMA(16, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16)
HSTU_WGMMA(24, 12, 12, 13, 14, 15, 16, 17, 18, 19, 20)
HSTU_WGMMA(32, 16, 16, 17, 18, 19, 20, 21, 22, 23, 24)
HSTU_WGMMA(40, 20, 20, 21, 22, 23, 24, 25, 26, 27, 28)
HSTU_WGMMA(48, 24, 24, 25, 26, 27, 28, 29, 30, 31, 32)
HSTU_WGMMA(64, 32, 32, 33, 34, 35, 36, 37, 38, 39, 40)
HSTU_WGMMA(80, 40, 40, 41, 42, 43, 44, 45, 46, 47, 48)
HSTU_WGMMA(96, 48, 48, 49, 50, 51, 52, 53, 54, 55, 56)
HSTU_WGMMA(112, 56, 56, 57, 58, 59, 60, 61, 62, 63, 64)
HSTU_WGMMA(128, 64, 64, 65, 66, 67, 68, 69, 70, 71, 72)
HSTU_WGMMA(144, 72, 72, 73, 74, 75, 76, 77, 78, 79, 80)
HSTU_WGMMA(160, 80, 80, 81, 82, 83, 84, 85, 86, 87, 88)
HSTU_WGMMA(176, 88, 88, 89, 90, 91, 92, 93, 94, 95, 96)
HSTU_WGMMA(192, 96, 96, 97, 98, 99, 100, 101, 102, 103, 104)
HSTU_WGMMA(208, 104, 104, 105, 106, 107, 108, 109, 110, 111, 112)
HSTU_WGMMA(224, 112, 112, 113, 114, 115, 116, 117, 118, 119, 120)
HSTU_WGMMA(240, 120, 120, 121, 122, 123, 124, 125, 126, 127, 128)
HSTU_WGMMA(256, 128, 128, 129, 130, 131, 132, 133, 134, 135, 136)
// clang-format on

}  // namespace hstu::prim
