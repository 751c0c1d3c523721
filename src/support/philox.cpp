#include "support/philox.hpp"

#include "support/to_integer.hpp"

#include <algorithm>

namespace hstujit {

std::array<uint32_t, 4> philox(uint64_t counter, uint64_t seed) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

float uniform_of(uint32_t word) {
  const uint32_t folded = word >> 31 ? ~word : word;
  return static_cast<float>(static_cast<int32_t>(folded)) * 4.6566127342e-10f;
}

uint32_t dropout_threshold(float ratio) {
  // uniform_of() does not decrease, and moves a number by less than 2^-23 of 2^31: the answer is near ratio * 2^31.
  const auto guess = to_integer<int64_t>(static_cast<double>(ratio) * 2147483648.0, 0, int64_t{1} << 31);
  int64_t low = std::max<int64_t>(guess - 1024, 0), high = std::min<int64_t>(guess + 1024, int64_t{1} << 31);
  while (low < high) {  // all below low are dropped, all from high on are kept
    const int64_t middle = (low + high) / 2;
    if (uniform_of(static_cast<uint32_t>(middle)) > ratio)
      high = middle;
    else
      low = middle + 1;
  }
  return static_cast<uint32_t>(low);
}

}  // namespace hstujit
