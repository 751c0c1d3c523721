#include "capi/versions.hpp"

#include "capi/padding.hpp"
#include "operators/checks.hpp"
#include "support/error.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace hstujit {
namespace {

// ---- The versions of each struct, oldest first. Of most there is but one, today's.
//
// A struct that is to grow gets here what it is today, in numbers, and how that becomes what it will be. Lists that
// stand here already stay as they are, but for that of a struct which embeds it: that one gets a version likewise.

template <class Struct>
constexpr std::array<Version, 0> kEarlier = {};

template <>
constexpr std::array kEarlier<hstu_layer_norm_args> = {
    Version{496, 592, {{{8, 8, 488}}}},  // until moments
};

template <>
constexpr std::array kEarlier<hstu_layer_norm_backward_args> = {
    Version{1200, 1296, {{{16, 16, 488}, {504, 600, 696}}}, {{{"forward.struct_size", 8, 496}}}},  // until its moments
};

template <>
constexpr std::array kEarlier<hstu_counters> = {
    Version{144, 152, {{{8, 8, 136}}}},  // until unusable_records
};

// ---- What holds of every list

/// How many of the pieces, of which none meets another, have this byte.
constexpr int pieces_with(const Version& version, size_t byte, size_t Piece::*begin) {
  int count = 0;
  for (const Piece& piece : version.pieces) count += piece.*begin <= byte && byte < piece.*begin + piece.bytes;
  return count;
}
constexpr bool is_a_size(const Version& version, size_t byte) {
  for (const EmbeddedSize& each : version.embedded)
    if (each.name && each.at <= byte && byte < each.at + sizeof(size_t)) return true;
  return byte < sizeof(size_t);
}

/// Every byte of it but sizes goes to one place of the next version, and no two go to the same.
constexpr bool moves_whole(const Version& version) {
  for (size_t byte = 0; byte < version.size; ++byte)
    if (pieces_with(version, byte, &Piece::at) != !is_a_size(version, byte)) return false;
  for (size_t byte = 0; byte < version.next_size; ++byte)
    if (pieces_with(version, byte, &Piece::at_next) > (byte < sizeof(size_t) ? 0 : 1)) return false;
  for (const Piece& piece : version.pieces)
    if (piece.at + piece.bytes > version.size || piece.at_next + piece.bytes > version.next_size) return false;
  return true;
}

/// The list ends at today's size, and sizes grow, so that each tells its version.
template <class Struct>
constexpr bool leads_to_today() {
  const auto& earlier = kEarlier<Struct>;
  for (size_t i = 0; i < earlier.size(); ++i) {
    const size_t next = i + 1 < earlier.size() ? earlier[i + 1].size : sizeof(Struct);
    if (earlier[i].next_size != next || earlier[i].size >= next || !moves_whole(earlier[i])) return false;
  }
  return true;
}

template <class Struct>
constexpr Layout kLayout = [] {
  static_assert(!has_padding<Struct>(), "a struct has bytes that belong to no member");
  static_assert(leads_to_today<Struct>(), "a struct changed without a version of what it was, or that is wrong");
  static_assert(offsetof(Struct, struct_size) == 0);
  return Layout{sizeof(Struct), kEarlier<Struct>};
}();

// Elements of arrays have no size in them: their array's args have it.
static_assert(!has_padding<hstu_layer_weights>() && !has_padding<hstu_fp8_layer_weights>());
// The library's own, in which the host finds their size.
static_assert(!has_padding<hstu_operator_description>() && !has_padding<hstu_member>());

// ---- A struct of another size

[[noreturn]] void refuse(const Layout& layout, size_t given, const char* name) {
  std::string known = fmt::to_string(layout.size);
  for (const Version& version : layout.earlier) known += fmt::format(" or, of earlier releases, {}", version.size);
  const char* const way_out = given > layout.size
                                  ? "the host was built against a later release, so load that one's library"
                                  : "set it to sizeof the struct, and build against this library's headers";
  fail(HSTU_ERROR_INVALID_ARGUMENT, "{}.struct_size = {}: this library ({}) takes {}; {}", name, given, hstu_version(),
       known, way_out);
}

const Version& version_of(const Layout& layout, size_t given, const char* name) {
  const auto found = std::ranges::find(layout.earlier, given, &Version::size);
  if (found == layout.earlier.end()) refuse(layout, given, name);
  return *found;
}

const Version* end_of(const Layout& layout) { return layout.earlier.data() + layout.earlier.size(); }

}  // namespace

void update(const Layout& layout, const void* given, void* today, const char* name) {
  const Version* version = &version_of(layout, size_given(given), name);
  StructBytes from, to;
  std::memcpy(to.data(), given, version->size);
  for (const EmbeddedSize& each : version->embedded)
    if (each.name) checks::embedded_size(each.name, size_given(to.bytes.data() + each.at), each.size);
  for (; version != end_of(layout); ++version) {
    std::swap(from, to);
    to.bytes.fill({});
    for (const Piece& piece : version->pieces)
      std::memcpy(to.bytes.data() + piece.at_next, from.bytes.data() + piece.at, piece.bytes);
  }
  std::memcpy(to.data(), &layout.size, sizeof layout.size);
  std::memcpy(today, to.data(), layout.size);
}

void answer(const Layout& layout, const void* today, void* out, const char* name) {
  const size_t size = size_given(out);
  const Version* const wanted = size == layout.size ? end_of(layout) : &version_of(layout, size, name);
  StructBytes from, to;
  std::memcpy(to.data(), today, layout.size);
  for (const Version* version = end_of(layout); version != wanted;) {
    --version;
    std::swap(from, to);
    to.bytes.fill({});
    for (const Piece& piece : version->pieces)
      std::memcpy(to.bytes.data() + piece.at, from.bytes.data() + piece.at_next, piece.bytes);
  }
  std::memcpy(to.data(), &size, sizeof size);
  std::memcpy(out, to.data(), size);
}

#define HSTUJIT_LAYOUT(name, args_type, function) \
  template <>                                     \
  const Layout& layout_of<args_type>() {          \
    return kLayout<args_type>;                    \
  }
HSTUJIT_OPERATOR_MAP(HSTUJIT_LAYOUT)
HSTUJIT_CHAIN_MAP(HSTUJIT_LAYOUT)
HSTUJIT_LAYOUT(options, hstu_context_options, )
HSTUJIT_LAYOUT(counters, hstu_counters, )
#undef HSTUJIT_LAYOUT

#define HSTUJIT_LAYOUT(name, args_type, function) &kLayout<args_type>,
const Layout& layout_of(Op op) {
  static constexpr const Layout* kAll[] = {HSTUJIT_OPERATOR_MAP(HSTUJIT_LAYOUT)};
  return *kAll[static_cast<size_t>(op)];
}

const Layout& layout_of(const chain::Chain& chain) {
  static constexpr const Layout* kAll[] = {HSTUJIT_CHAIN_MAP(HSTUJIT_LAYOUT)};
  return *kAll[&chain - chain::chains().data()];
}
#undef HSTUJIT_LAYOUT

}  // namespace hstujit
