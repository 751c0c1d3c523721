#include "support/hash.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hstujit {

uint64_t hash64(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

std::string Digest::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Digest digest(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

Digester& Digester::add(std::string_view part) {
  const uint64_t size = part.size();
  bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes_.append(part);
  return *this;
}

}  // namespace hstujit
