#include "launch/address_places.hpp"

#include "support/error.hpp"

#include <cstring>

namespace hstujit {
namespace {

// Each turns half of an address's bits, both together all of them: from alignment, of which keys may know, to what a
// user's half of the address space has.
constexpr uint64_t kTurned[] = {0x2aaa'aaaa'aa80, 0x5555'5555'5500};

uint64_t word_at(const void* bytes, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, static_cast<const std::byte*>(bytes) + offset, sizeof word);
  return word;
}

/// All of it, for parameters do not fill their room.
Launch bound_at(const AddressPlaces::Bind& bind, const void* prepared) {
  Launch launch{};
  bind(prepared, launch);
  return launch;
}

bool same_but_for_params(const Launch& a, const Launch& b) {
  return std::memcmp(a.grid, b.grid, sizeof a.grid) == 0 && std::memcmp(a.block, b.block, sizeof a.block) == 0 &&
         a.smem_bytes == b.smem_bytes && a.cluster == b.cluster && a.dependent == b.dependent;
}

}  // namespace

std::optional<AddressPlaces> AddressPlaces::find(const MovableArgs& args, const Bind& bind) try {
  AddressPlaces out;
  const Launch base = bound_at(bind, args.prepared());
  for (size_t tensor = 0; tensor < args.tensors(); ++tensor) {
    const size_t field = args.address_offset(tensor);
    const uint64_t address = word_at(args.prepared(), field);
    if (address == 0) continue;  // stays so
    uint64_t turned[2];
    Launch other[2];
    for (int i = 0; i < 2; ++i) {
      turned[i] = address ^ kTurned[i];
      ArgsBytes there;
      std::memcpy(there.data(), args.prepared(), args.op().args_size);
      std::memcpy(there.data() + field, &turned[i], sizeof turned[i]);
      other[i] = bound_at(bind, there.data());
      if (!same_but_for_params(base, other[i])) return std::nullopt;
    }
    for (size_t param = 0; param < sizeof base.params; param += sizeof(uint64_t)) {
      const uint64_t word = word_at(base.params, param), beyond = word - address;
      const uint64_t changed[] = {word_at(other[0].params, param), word_at(other[1].params, param)};
      if (changed[0] == word && changed[1] == word) continue;
      if (changed[0] != turned[0] + beyond || changed[1] != turned[1] + beyond || out.count_ == kMost)
        return std::nullopt;
      out.places_[out.count_++] = {static_cast<uint32_t>(param), static_cast<uint32_t>(field), beyond};
    }
  }
  return out;
} catch (const Error&) { return std::nullopt; }

void AddressPlaces::write(const void* args, Launch& launch) const {
  for (size_t i = 0; i < count_; ++i) {
    const uint64_t word = word_at(args, places_[i].field) + places_[i].beyond;
    std::memcpy(launch.params + places_[i].param, &word, sizeof word);
  }
}

}  // namespace hstujit
