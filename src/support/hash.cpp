#include "support/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hstujit {

uint64_t hash64(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

std::string Digest::hex() const {
  std::string digits(32, '0');
  for (int i = 0; i < 16; ++i) {
    const int shift = 60 - 4 * i;
    digits[static_cast<size_t>(i)] = "0123456789abcdef"[high >> shift & 15];
    digits[static_cast<size_t>(i) + 16] = "0123456789abcdef"[low >> shift & 15];
  }
  return digits;
}

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
