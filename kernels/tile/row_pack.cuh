// A few neighbouring elements of a row, in registers as they lie in memory, moved by the widest accesses they allow.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

// Count elements, 1 to 32 bytes. The address must be aligned to the pack's size, or to 16 bytes if that is less.
template <class Element, int Count>
struct RowPack {
  enum : int { kBytes = Count * static_cast<int>(sizeof(Element)) };
  enum : int { kWords = kBytes < 4 ? 1 : kBytes / 4 };
  static_assert((kBytes & (kBytes - 1)) == 0 && kBytes <= 32, "a pack is 1, 2, 4, 8, 16 or 32 bytes");
  u32 word[kWords];
};

// Plain accesses: on the H200 the hints L1::no_allocate, L2::evict_first and st.cs each cost 2 to 4 % of a copy's rate.
template <class Element, int Count>
HSTU_PRIM void load(RowPack<Element, Count>& pack, const Element* from) {
  using Pack = RowPack<Element, Count>;
  if constexpr (Pack::kBytes >= 16) {
#pragma unroll
    for (int i = 0; i < Pack::kWords; i += 4) {
      const prim::Quad quad = prim::ld_global(reinterpret_cast<const char*>(from) + 4 * i);
#pragma unroll
      for (int j = 0; j < 4; ++j) pack.word[i + j] = quad.word[j];
    }
  } else if constexpr (Pack::kBytes == 8) {
    const prim::Pair pair = prim::ld_global8(from);
    pack.word[0] = pair.word[0];
    pack.word[1] = pair.word[1];
  } else if constexpr (Pack::kBytes == 4) {
    pack.word[0] = prim::ld_global4(from);
  } else {
    pack.word[0] = Pack::kBytes == 2 ? prim::ld_global2(from) : prim::ld_global1(from);
  }
}

// From shared memory; packs of whole 16-byte parts only.
template <class Element, int Count>
HSTU_PRIM void load_shared(RowPack<Element, Count>& pack, const unsigned char* from) {
  static_assert(RowPack<Element, Count>::kBytes % 16 == 0, "shared memory is read in 16-byte accesses");
#pragma unroll
  for (int i = 0; i < RowPack<Element, Count>::kWords; i += 4) {
    const prim::Quad quad = prim::ld_shared(prim::smem_addr(from + 4 * i));
#pragma unroll
    for (int j = 0; j < 4; ++j) pack.word[i + j] = quad.word[j];
  }
}

template <class Element, int Count>
HSTU_PRIM void store(Element* to, const RowPack<Element, Count>& pack) {
  using Pack = RowPack<Element, Count>;
  if constexpr (Pack::kBytes >= 16) {
#pragma unroll
    for (int i = 0; i < Pack::kWords; i += 4) {
      const prim::Quad quad = {{pack.word[i], pack.word[i + 1], pack.word[i + 2], pack.word[i + 3]}};
      prim::st_global(reinterpret_cast<char*>(to) + 4 * i, quad);
    }
  } else if constexpr (Pack::kBytes == 8) {
    prim::st_global8(to, prim::Pair{{pack.word[0], pack.word[1]}});
  } else if constexpr (Pack::kBytes == 4) {
    prim::st_global4(to, pack.word[0]);
  } else {
    Pack::kBytes == 2 ? prim::st_global2(to, pack.word[0]) : prim::st_global1(to, pack.word[0]);
  }
}

// Makes `pack` depend on `other` without changing it, so that other's load is issued before pack is used: left alone,
// ptxas moves a load down to where its value is needed, behind the wait for an earlier one. zero: prim::opaque_zero().
template <class Element, class Other, int Count>
HSTU_PRIM void await_both(RowPack<Element, Count>& pack, const RowPack<Other, Count>& other, u32 zero) {
  pack.word[0] ^= other.word[0] & zero;
}

template <class Element, int Count>
HSTU_PRIM void clear(RowPack<Element, Count>& pack) {
#pragma unroll
  for (u32& word : pack.word) word = 0;
}

template <class Element, int Count>
HSTU_PRIM void unpack(float (&value)[Count], const RowPack<Element, Count>& pack) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    if constexpr (sizeof(Element) == 4)
      value[i] = __uint_as_float(pack.word[i]);
    else
      value[i] = i % 2 ? prim::unpack_hi<Element>(pack.word[i / 2]) : prim::unpack_lo<Element>(pack.word[i / 2]);
  }
}

template <class Element, int Count>
HSTU_PRIM void pack(RowPack<Element, Count>& to, const float (&value)[Count]) {
#pragma unroll
  for (int i = 0; i < RowPack<Element, Count>::kWords; ++i) {
    if constexpr (sizeof(Element) == 4)
      to.word[i] = __float_as_uint(value[i]);
    else
      to.word[i] = prim::pack2<Element>(value[2 * i], Count == 1 ? 0.0f : value[2 * i + 1]);
  }
}

}  // namespace hstu::tile
