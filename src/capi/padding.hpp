// Whether a struct has bytes that belong to no member. Such bytes are whatever a host's stack held: calls are compared
// byte by byte, and a member that came to lie there would be read as one that older hosts never set.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace hstujit {

template <class T>
constexpr bool has_padding();

namespace padding {

/// Stands for any member.
struct Any {
  template <class Member>
  constexpr operator Member() const;
};

/// Stands for any member, and adds up what it stood for.
struct Counting {
  size_t* bytes;
  bool* padded;
  template <class Member>
  constexpr operator Member() const {
    *bytes += sizeof(Member);
    if constexpr (std::is_class_v<Member>) *padded |= has_padding<Member>();
    return Member{};
  }
};

template <class Each>
constexpr Each each_of(size_t, Each each) {
  return each;
}

/// Whether T's braces take so many members; those of an array count one by one.
template <class T, size_t... kIndex>
constexpr bool takes(std::index_sequence<kIndex...>) {
  return requires { T{each_of(kIndex, Any{})...}; };
}
template <class T, size_t kMost = 64>
constexpr size_t count_members() {
  static_assert(kMost > 0, "not a struct that braces can fill");
  if constexpr (takes<T>(std::make_index_sequence<kMost>()))
    return kMost;
  else
    return count_members<T, kMost - 1>();
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"  // of members that are arrays
template <class T, size_t... kIndex>
constexpr bool has_padding(std::index_sequence<kIndex...>) {
  size_t bytes = 0;
  bool padded = false;
  [[maybe_unused]] const T object{each_of(kIndex, Counting{&bytes, &padded})...};
  return padded || bytes != sizeof(T);
}
#pragma GCC diagnostic pop

}  // namespace padding

/// Between members, behind the last, or in a member that is a struct itself.
template <class T>
constexpr bool has_padding() {
  return padding::has_padding<T>(std::make_index_sequence<padding::count_members<T>()>());
}

}  // namespace hstujit
