// Seeded random numbers that are the same on every machine and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hstujit {

/// SplitMix64 (Steele, Lea, Flood 2014): one multiplication chain a number, every seed is good.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), bound > 0. The bias, bound / 2^64, is of no matter here.
  uint64_t below(uint64_t bound) { return static_cast<uint64_t>((static_cast<Wide>(bits()) * bound) >> 64); }

  /// Bell-shaped with mean 0 and deviation 1: the sum of four uniform numbers. Nearly normal, and cheap enough to fill
  /// the weights of a stack in milliseconds.
  float bell() {
    const uint64_t b = bits();
    const auto sum = static_cast<int32_t>((b & 0xffff) + (b >> 16 & 0xffff) + (b >> 32 & 0xffff) + (b >> 48));
    return static_cast<float>(sum - 2 * 0xffff) * (1.7320508f / 65536.0f);
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  uint64_t state_;
};

}  // namespace hstujit
