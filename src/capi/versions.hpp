// Structs of hosts that were built against an earlier release. Every struct begins with its size, which tells its
// version; one that is not of today is copied into today's layout before anything else reads it. No byte past its size
// is read. The versions are listed in versions.cpp.
#pragma once

#include "chain/chain_map.hpp"
#include "chain/chains.hpp"
#include "operators/operator_map.hpp"
#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace hstujit {

/// Bytes of a version, and where they stand in the next one. bytes 0: none.
struct Piece {
  size_t at, at_next, bytes;
};
/// Where a version has the struct_size of a struct in it, and what that was then. name null: none.
struct EmbeddedSize {
  const char* name;
  size_t at, size;
};

/// A layout that a struct had, and how it becomes the next one. What is in no piece is zero there, the sizes of structs
/// in it too.
struct Version {
  size_t size;
  size_t next_size;
  std::array<Piece, 4> pieces;
  std::array<EmbeddedSize, 2> embedded = {};
};

/// A public struct: its size today, and its earlier versions, oldest first.
struct Layout {
  size_t size;
  std::span<const Version> earlier;
};

/// Of an args struct, options or counters.
template <class Struct>
const Layout& layout_of();
const Layout& layout_of(Op op);
/// chain: of chains().
const Layout& layout_of(const chain::Chain& chain);

/// What any struct begins with; nothing behind it is read.
inline size_t size_given(const void* object) {
  size_t size;
  std::memcpy(&size, object, sizeof size);
  return size;
}

/// Writes today's layout of a struct that is not of today's size. name: of the parameter, for messages. Throws
/// INVALID_ARGUMENT where no release had a struct of that size. Apart from what calls it, which has seldom to.
[[gnu::noinline, gnu::cold]] void update(const Layout& layout, const void* given, void* today, const char* name);

/// The reverse, for structs that the library fills in: writes as many bytes as `out` says that it has.
void answer(const Layout& layout, const void* today, void* out, const char* name);

#define HSTUJIT_SIZE(name, args_type, function) sizeof(args_type),
inline constexpr size_t kMostStructBytes =
    std::max({HSTUJIT_OPERATOR_MAP(HSTUJIT_SIZE) HSTUJIT_CHAIN_MAP(HSTUJIT_SIZE) sizeof(hstu_counters),
              sizeof(hstu_context_options)});
#undef HSTUJIT_SIZE

/// Room for any struct of the API.
struct StructBytes {
  alignas(16) std::array<std::byte, kMostStructBytes> bytes;
  void* data() { return bytes.data(); }
};

}  // namespace hstujit
