// What a copy moves by one access.
#pragma once
#include "prim/memory.cuh"

namespace hstu::tile {

// A piece of a row: kBytes as they lie in memory, moved by one access.
template <int kBytes>
struct Piece {
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4, "pieces are of 1, 2, 4, 8 or 16 bytes");
  u32 word;
  HSTU_PRIM void load(const void* from) {
    word = kBytes == 4 ? prim::ld_global4(from) : kBytes == 2 ? prim::ld_global2(from) : prim::ld_global1(from);
  }
  HSTU_PRIM void store(void* to) const {
    if constexpr (kBytes == 4) prim::st_global4(to, word);
    if constexpr (kBytes == 2) prim::st_global2(to, word);
    if constexpr (kBytes == 1) prim::st_global1(to, word);
  }
  HSTU_PRIM void load_shared(u32 from) {
    word = kBytes == 4 ? prim::ld_shared4(from) : kBytes == 2 ? prim::ld_shared2(from) : prim::ld_shared1(from);
  }
  HSTU_PRIM void store_shared(u32 to) const {
    if constexpr (kBytes == 4) prim::st_shared(to, word);
    if constexpr (kBytes == 2) prim::st_shared2(to, word);
    if constexpr (kBytes == 1) prim::st_shared1(to, word);
  }
};
template <>
struct Piece<16> {
  prim::Quad quad;
  HSTU_PRIM void load(const void* from) { quad = prim::ld_global(from); }
  HSTU_PRIM void store(void* to) const { prim::st_global(to, quad); }
};
template <>
struct Piece<8> {
  prim::Pair pair;
  HSTU_PRIM void load(const void* from) { pair = prim::ld_global8(from); }
  HSTU_PRIM void store(void* to) const { prim::st_global8(to, pair); }
  HSTU_PRIM void load_shared(u32 from) { pair = prim::ld_shared8(from); }
  HSTU_PRIM void store_shared(u32 to) const { prim::st_shared(to, pair); }
};

}  // namespace hstu::tile
