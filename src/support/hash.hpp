// Hashes: XXH3, 64 bits for tables in memory, 128 bits for names on disk (stable across machines and releases).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hstujit {

uint64_t hash64(const void* data, size_t bytes);

struct Digest {
  uint64_t high = 0, low = 0;

  bool operator==(const Digest&) const = default;
  auto operator<=>(const Digest&) const = default;
  std::string hex() const;  ///< 32 lower-case digits
};

Digest digest(std::string_view bytes);

/// Digest of several parts; lengths are part of it, so ("ab", "c") and ("a", "bc") differ.
class Digester {
 public:
  Digester& add(std::string_view part);
  Digest finish() const { return digest(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace hstujit
