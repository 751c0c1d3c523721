// Bytes that we did not write: entries, packs, copies of winners, workloads and exported records, damaged in every way
// that a seeded generator comes up with. A parser takes them or throws Error; nothing else may happen. Checksums are
// made right again, so that the damage reaches what lies behind them.
#include "jit/entry.hpp"
#include "jit/pack.hpp"
#include "jit/tiny_kernel.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/records_text.hpp"
#include "tuner/winners.hpp"
#include "workload/calls.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
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

/// How often `parse` took damaged forms of the seeds; `seal` repairs checksums.
int taken(
    const std::vector<std::string>& seeds, const std::function<bool(const std::string&)>& parse,
    const std::function<void(std::string&)>& seal = [](std::string&) {}) {
  int count = 0;
  for (const std::string& seed : seeds) {
    EXPECT_TRUE(parse(seed)) << "the seed itself is sound";
    for (int round = 0; round < kRounds; ++round) {
      std::string bytes = Damage(static_cast<uint64_t>(round)).to(seed);
      seal(bytes);
      try {
        count += parse(bytes);
      } catch (const Error& error) { EXPECT_FALSE(error.message().empty()); }
    }
  }
  return count;
}

void put(std::string& bytes, size_t at, uint64_t value) {
  if (bytes.size() >= at + sizeof value) std::memcpy(&bytes[at], &value, sizeof value);
}

/// A digest of what follows the first `header` bytes goes to `at`; a hash of what precedes header - 8 goes there.
void seal_content(std::string& bytes, size_t header, size_t at, bool hashed) {
  if (bytes.size() < header) return;
  const Digest check = digest(std::string_view(bytes).substr(header));
  put(bytes, at, check.high);
  put(bytes, at + 8, check.low);
  if (hashed) put(bytes, header - 8, hash64(bytes.data(), header - 8));
}

CompiledKernel kernel() {
  CompiledKernel out;
  out.name = "tiny";
  out.target = "sm_80";
  out.binary = std::string(300, 'b');
  out.compiler = "NVRTC 13.0 abc";
  out.log = "ptxas info : Used 8 registers";
  return out;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Fuzz, Entries) {
  const KernelKey key(TinyKernels::source(1), Digest{1, 2});
  const auto parse = [&](const std::string& bytes) {
    const auto found = decode_entry(bytes, key, "");
    return inspect_entry(bytes).has_value() && found;
  };
  taken({encode_entry(key, kernel())}, parse, [](std::string& bytes) {
    if (bytes.size() >= 64) put(bytes, 16, bytes.size() - 64 - (uint8_t(bytes[12]) | uint8_t(bytes[13]) << 8));
    seal_content(bytes, 64, 32, true);
  });
}

TEST(Fuzz, Packs) {
  const TempDir dir;
  PackBuilder builder;
  for (const int value : {1, 2}) builder.add(KernelKey(TinyKernels::source(value), Digest{1, 2}), kernel());
  const auto parse = [&](const std::string& bytes) {
    write_file(dir.path() / "pack", bytes);
    const Pack pack(dir.str() + "/pack");
    pack.load_any(KernelKey(TinyKernels::source(1), Digest{1, 2}));
    return pack.items().size() == 2 && pack.records() == "records";
  };
  taken({builder.finish("records")}, parse, [](std::string& bytes) {
    put(bytes, 16, bytes.size());
    seal_content(bytes, 64, 40, true);
  });
}

TEST(Fuzz, CopiesOfWinners) {
  Winners winners;
  Record record;
  record.device_class = kDevice;
  record.trial = trial("tile=32", 900);
  for (int i = 1; i < 5; ++i) {
    record.problem = rows_problem(4096, i);
    winners.add(record);
  }
  const auto parse = [](const std::string& bytes) {
    const auto read = Winners::of_bytes(bytes);
    if (read) read->neighbours(rows_problem(4096), kDevice, 3);
    return read && read->find(rows_problem(4096, 1), kDevice);
  };
  taken({winners.bytes()}, parse, [](std::string& bytes) { seal_content(bytes, 72, 56, false); });
}

TEST(Fuzz, Workloads) {
  const auto folder = source_dir() / "tools/workloads";
  const auto parse = [](const std::string& bytes) { return !parse_workload(bytes).name.empty(); };
  EXPECT_GT(taken({text_of(folder / "dlrm_v3.json"), text_of(folder / "figures.json")}, parse), 0)
      << "some damage changes a legal number into another";
}

TEST(Fuzz, ExportedRecords) {
  Job one = job("1", rows_problem(4096));
  one.trials = {standard_trial(1000), trial("tile=32 stages=2", 900)};
  const auto parse = [](const std::string& bytes) { return !jobs_of_text(bytes).empty(); };
  EXPECT_GT(taken({to_text({one})}, parse), 0);
}

}  // namespace
}  // namespace hstujit::test
