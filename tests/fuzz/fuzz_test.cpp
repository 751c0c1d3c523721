// Bytes that we did not write, damaged in every way that a seeded generator comes up with, and those that once did harm
// or that libFuzzer found interesting (corpus/<target>).
#include "fuzz/targets.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace hstujit::test {
namespace {

constexpr int kRounds = 3000;

class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  /// A few wounds of different kinds.
  std::string to(std::string bytes) {
    for (uint64_t wounds = 1 + random_() % 4; wounds > 0; --wounds) wound(bytes);
    return bytes;
  }

 private:
  size_t place(const std::string& bytes) { return bytes.empty() ? 0 : random_() % bytes.size(); }

  void wound(std::string& bytes) {
    static constexpr const char* kWords[] = {
        "null",     "-1", "1e999", "9223372036854775808", "\"", "[", "{\"a\":", "\xff", "0", "true",
        "[[[[[[[[", "}",  ",,",    "18446744073709551615"};
    const size_t at = place(bytes);
    switch (random_() % 6) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_() % 8));
        break;
      case 1:
        bytes.erase(at, 1 + random_() % 16);
        break;
      case 2:
        bytes.insert(at, kWords[random_() % std::size(kWords)]);
        break;
      case 3:
        bytes.insert(at, bytes.substr(place(bytes), random_() % 64));
        break;
      case 4: {
        const uint64_t value = random_() % 2 ? ~uint64_t{0} >> random_() % 64 : random_() % 300;
        if (bytes.size() >= sizeof value) std::memcpy(&bytes[random_() % (bytes.size() - 7)], &value, sizeof value);
        break;
      }
      default:
        bytes.resize(random_() % 8 == 0 ? at : bytes.size());
    }
  }

  std::mt19937_64 random_;
};

/// The files of the target's corpus.
std::vector<std::string> corpus_of(const fuzz::Target& target) {
  std::vector<std::string> out;
  const auto folder = source_dir() / "tests/fuzz/corpus" / target.name;
  if (!std::filesystem::exists(folder)) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return out;
}

class Fuzz : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, Fuzz, testing::ValuesIn([] {
                           std::vector<const char*> names;
                           for (const fuzz::Target& target : fuzz::targets()) names.push_back(target.name);
                           return names;
                         }()),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(Fuzz, DamageIsTakenOrRefused) {
  const fuzz::Target& target = *fuzz::target_named(GetParam());
  int taken = 0;
  ASSERT_FALSE(target.examples().empty());
  for (const std::string& example : target.examples()) {
    EXPECT_TRUE(target.parse(example)) << "the example itself is sound";
    for (int round = 0; round < kRounds; ++round) {
      std::string bytes = Damage(static_cast<uint64_t>(round)).to(example);
      if (target.seal) target.seal(bytes);
      taken += fuzz::survives(target, bytes);
    }
  }
  EXPECT_TRUE(target.seal || taken > 0) << "some damage changes a legal number into another";
}

TEST_P(Fuzz, TheCorpusIsTakenOrRefused) {
  const fuzz::Target& target = *fuzz::target_named(GetParam());
  const std::vector<std::string> corpus = corpus_of(target);
  EXPECT_FALSE(corpus.empty());
  for (const std::string& bytes : corpus) fuzz::survives(target, bytes);
}

}  // namespace
}  // namespace hstujit::test
