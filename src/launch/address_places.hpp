// Where the parameters of a bound launch hold the addresses of its call's tensors: the same call on other buffers is
// then a few words written, instead of parameters made anew.
#pragma once

#include "families/family.hpp"
#include "operators/movable_args.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace hstujit {

class AddressPlaces {
 public:
  using Bind = std::function<void(const void* prepared, Launch& launch)>;

  /// Binds the arguments at made-up addresses, one tensor's after the other's, and looks at what changes. Nothing when
  /// the parameters have more of an address than itself, or itself plus a constant, or when bind throws at one.
  static std::optional<AddressPlaces> find(const MovableArgs& args, const Bind& bind);

  /// Makes a launch of the construction's call, or of one that moves() from there, that of args, which moves(), too.
  void write(const void* args, Launch& launch) const;

 private:
  static constexpr size_t kMost = 32;
  struct Place {
    uint32_t param;   ///< byte of Launch::params
    uint32_t field;   ///< byte of the args struct
    uint64_t beyond;  ///< what stands in the parameters, less the address
  };

  size_t count_ = 0;
  std::array<Place, kMost> places_{};
};

}  // namespace hstujit
