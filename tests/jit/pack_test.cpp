// Packs come back as they were, equal contents give equal bytes, and nothing damaged or forged is ever taken.
#include "jit/pack.hpp"

#include "jit/entry.hpp"
#include "jit/jit.hpp"
#include "jit/tiny_kernel.hpp"
#include "support/error.hpp"
#include "support/hash.hpp"
#include "support/nvrtc.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

namespace hstujit {
namespace {

using test::TinyKernels;
using test::write_file;

KernelKey key_of(int value) { return {TinyKernels::source(value), Digest{1, 2}}; }

CompiledKernel kernel_of(int value, double compile_ms = 1) {
  CompiledKernel kernel;
  kernel.name = "tiny " + std::to_string(value);
  kernel.target = "sm_80";
  kernel.entry = "tiny";
  kernel.binary = std::string(100, static_cast<char>('a' + value));
  kernel.compiler = "NVRTC 13.0 abc";
  kernel.log = "ptxas info    : Used 8 registers\nptxas info    : Compile time = " + std::to_string(compile_ms) + " ms";
  kernel.compile_ms = compile_ms;
  return kernel;
}

std::string pack_of(std::initializer_list<int> values, double compile_ms = 1) {
  PackBuilder builder;
  for (const int value : values) builder.add(key_of(value), kernel_of(value, compile_ms));
  return builder.finish("the records");
}

class PackTest : public testing::Test {
 protected:
  std::string file(const std::string& bytes) {
    write_file(dir_.path() / "pack", bytes);
    return dir_.str() + "/pack";
  }
  /// What is wrong with these bytes; "" when they are taken.
  std::string objection(const std::string& bytes) {
    try {
      const Pack pack("pack", bytes);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), HSTU_ERROR_STORE);
      return error.message();
    }
  }
  test::TempDir dir_;
};

TEST_F(PackTest, GivesBackWhatWasPacked) {
  const Pack pack(file(pack_of({3, 1, 2})));
  EXPECT_EQ(pack.records(), "the records");
  EXPECT_EQ(pack.items().size(), 3u);
  for (const int value : {1, 2, 3}) {
    const auto kernel = pack.load(key_of(value), "NVRTC 13.0 abc");
    ASSERT_TRUE(kernel) << value;
    EXPECT_EQ(kernel->binary, kernel_of(value).binary);
    EXPECT_TRUE(pack.load_any(key_of(value)));
    EXPECT_FALSE(pack.load(key_of(value), "NVRTC 12.8 other"));
  }
  EXPECT_FALSE(pack.load(key_of(4), "NVRTC 13.0 abc"));
  EXPECT_FALSE(pack.load_any(key_of(4)));
}

TEST_F(PackTest, KeepsTheKernelsOfTwoCompilersApart) {
  PackBuilder builder;
  CompiledKernel other = kernel_of(1);
  other.compiler = "NVRTC 12.8 other";
  other.binary = "other";
  builder.add(key_of(1), kernel_of(1));
  builder.add(key_of(1), other);
  const Pack pack(file(builder.finish("")));
  EXPECT_EQ(pack.load(key_of(1), "NVRTC 12.8 other")->binary, "other");
  EXPECT_EQ(pack.load(key_of(1), "NVRTC 13.0 abc")->binary, kernel_of(1).binary);
}

TEST_F(PackTest, EqualContentsGiveEqualBytesWhateverOrderAndTimes) {
  EXPECT_EQ(pack_of({1, 2, 3}, 17), pack_of({3, 2, 1, 1}, 4));
  EXPECT_NE(pack_of({1, 2}), pack_of({1, 3}));
}

TEST_F(PackTest, AnEmptyPackIsAPack) {
  const Pack pack(file(PackBuilder().finish("")));
  EXPECT_TRUE(pack.items().empty());
  EXPECT_EQ(pack.records(), "");
  EXPECT_FALSE(pack.load_any(key_of(1)));
}

TEST_F(PackTest, RefusesEveryFlippedBit) {
  const std::string sound = pack_of({1, 2});
  ASSERT_EQ(objection(sound), "");
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    ASSERT_NE(objection(damaged), "") << "byte " << i;
  }
}

TEST_F(PackTest, RefusesEveryOtherLength) {
  const std::string sound = pack_of({1});
  for (size_t length = 0; length < sound.size(); length += 7)
    ASSERT_NE(objection(sound.substr(0, length)), "") << length;
  EXPECT_NE(objection(sound + '\0'), "");
}

TEST_F(PackTest, SaysWhatIsWrong) {
  EXPECT_NE(objection("").find("0 bytes"), std::string::npos);
  EXPECT_NE(objection(std::string(100, 'x')).find("no pack"), std::string::npos);
  std::string later = pack_of({1});
  later[8] = 2;
  EXPECT_NE(objection(later).find("format 2"), std::string::npos);
  std::string damaged = pack_of({1});
  damaged.back() ^= 1;
  EXPECT_NE(objection(damaged).find("damaged"), std::string::npos);
  EXPECT_THROW(Pack(dir_.str() + "/absent"), Error);
}

// A pack whose checksums are right and whose rows are not: it must not lead outside of the bytes.
TEST_F(PackTest, RefusesForgedRows) {
  const auto forged = [](size_t at, uint64_t value) {
    std::string bytes = pack_of({1, 2});
    std::memcpy(bytes.data() + at, &value, sizeof value);
    const Digest check = digest(std::string_view(bytes).substr(64));
    std::memcpy(bytes.data() + 40, &check.high, 8);
    std::memcpy(bytes.data() + 48, &check.low, 8);
    const uint64_t hash = hash64(bytes.data(), 56);
    std::memcpy(bytes.data() + 56, &hash, 8);
    return bytes;
  };
  EXPECT_NE(objection(forged(64 + 32, uint64_t{1} << 40)).find("inconsistent"), std::string::npos) << "offset";
  EXPECT_NE(objection(forged(64 + 40, ~uint64_t{0})).find("inconsistent"), std::string::npos) << "size";
  EXPECT_NE(objection(forged(64, ~uint64_t{0})).find("inconsistent"), std::string::npos) << "order";
  EXPECT_NE(objection(forged(24, uint64_t{1} << 40)).find("inconsistent"), std::string::npos) << "records";
  EXPECT_NE(objection(forged(32, uint64_t{1} << 40)).find("inconsistent"), std::string::npos) << "unpacked records";
  EXPECT_NE(objection(forged(32, 5)).find("its records cannot be read"), std::string::npos) << "their size";
  EXPECT_NE(objection(forged(32, (uint64_t{64} << 20) + 1)).find("inconsistent"), std::string::npos);
}

TEST_F(PackTest, UnpacksToFourGigabytesAtMost) {
  // Rows that all name one entry, which unpacks to nearly as much as one may: 66 of them are too many.
  CompiledKernel large = kernel_of(1);
  large.binary = std::string(kMostKernelBytes - 4096, 'x');
  PackBuilder builder;
  builder.add(key_of(1), large);
  const std::string sound = builder.finish("");
  EXPECT_LT(sound.size(), size_t{1} << 20);
  EXPECT_EQ(objection(sound), "");
  const auto repeated = [&](uint32_t times) {
    std::string row = sound.substr(64, 48), bytes = sound.substr(0, 64);
    uint64_t offset;
    std::memcpy(&offset, row.data() + 32, 8);
    offset += 48 * uint64_t{times - 1};
    std::memcpy(row.data() + 32, &offset, 8);
    for (uint32_t i = 0; i < times; ++i) bytes += row;
    bytes += sound.substr(64 + 48);
    const uint64_t size = bytes.size();
    std::memcpy(bytes.data() + 12, &times, 4);
    std::memcpy(bytes.data() + 16, &size, 8);
    const Digest check = digest(std::string_view(bytes).substr(64));
    std::memcpy(bytes.data() + 40, &check.high, 8);
    std::memcpy(bytes.data() + 48, &check.low, 8);
    const uint64_t hash = hash64(bytes.data(), 56);
    std::memcpy(bytes.data() + 56, &hash, 8);
    return bytes;
  };
  EXPECT_EQ(objection(repeated(60)), "");
  EXPECT_NE(objection(repeated(66)).find("more than 4096 MiB"), std::string::npos);
}

TEST_F(PackTest, WhatWasCheckedStaysWhateverBecomesOfTheFile) {
  const std::string path = file(pack_of({1, 2}));
  const Pack pack(path);
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(pack.items().size(), 2u);
  write_file(path, std::string(100'000, 'x'));
  EXPECT_EQ(pack.load(key_of(2), "NVRTC 13.0 abc")->binary, kernel_of(2).binary);
  EXPECT_EQ(pack.records(), "the records");
}

TEST_F(PackTest, APipeIsNoPackAndDoesNotBlock) {
  const std::string path = dir_.str() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(open_pack(path), nullptr);
  EXPECT_THROW(Pack{path}, Error);
}

TEST_F(PackTest, AFolderIsNoPackAndADamagedOneIsLeftOut) {
  EXPECT_EQ(open_pack(dir_.str()), nullptr);
  EXPECT_EQ(open_pack(""), nullptr);
  EXPECT_EQ(open_pack(dir_.str() + "/absent"), nullptr);
  EXPECT_EQ(open_pack(file("not a pack")), nullptr);
  EXPECT_NE(open_pack(file(pack_of({1}))), nullptr);
}

TEST_F(PackTest, ServesKernelsWithoutCompilingOrWriting) {
  HSTU_NEEDS_NVRTC();
  const TinyKernels kernels;
  const auto options = [&](const std::string& store, const std::string& nvrtc, std::shared_ptr<const Pack> pack) {
    return JitOptions{store, "", kernels.folder(), nvrtc, std::move(pack)};
  };
  PackBuilder builder;
  {
    Jit jit(options("", Environment::read().libnvrtc, nullptr));
    const Source source = TinyKernels::source(1);
    builder.add(jit.key_of(source), *jit.obtain(source));
  }
  const auto pack = open_pack(file(builder.finish("")));
  for (const std::string& nvrtc : {std::string("/nowhere/libnvrtc.so"), Environment::read().libnvrtc}) {
    Jit server(options(dir_.str() + "/store", nvrtc, pack));
    EXPECT_EQ(server.obtain(TinyKernels::source(1))->target, "sm_80");
    EXPECT_EQ(server.counters().compiles, 0);
    EXPECT_EQ(server.counters().store_hits, 1);
    EXPECT_FALSE(std::filesystem::exists(dir_.path() / "store"));
  }
}

}  // namespace
}  // namespace hstujit
