// Entries survive the trip to bytes and back, and no damaged or foreign bytes are ever taken for a kernel.
#include "jit/entry.hpp"

#include "jit/tiny_kernel.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

constexpr size_t kHeaderBytes = 64;

CompiledKernel example(const std::string& compiler = "NVRTC 13.0 abc") {
  CompiledKernel kernel;
  kernel.name = "tiny sm_80 value=1";
  kernel.target = "sm_80";
  kernel.entry = "_ZN4hstu4tinyINS_6ConfigEEEvPf";
  kernel.binary.assign("\177ELF\0binary", 11);
  kernel.binary.append(5000, 'b').push_back('\0');
  kernel.log = "ptxas info : \"quoted\" \xff not UTF-8\n";
  kernel.compiler = compiler;
  kernel.registers = 168;
  kernel.stack_bytes = 8;
  kernel.spill_bytes = 16;
  kernel.static_smem_bytes = 1024;
  kernel.compile_ms = 512.25;
  return kernel;
}

class Entry : public testing::TestWithParam<Packing> {
 protected:
  const KernelKey key{test::TinyKernels::source(1), Digest{1, 2}};
  const std::string bytes = encode_entry(key, example(), GetParam());

  bool accepted(const std::string& damaged) const { return decode_entry(damaged, key, "NVRTC 13.0 abc").has_value(); }
};

TEST_P(Entry, ComesBackAsItWas) {
  const auto kernel = decode_entry(bytes, key, "NVRTC 13.0 abc");
  ASSERT_TRUE(kernel);
  const CompiledKernel expected = example();
  EXPECT_EQ(kernel->name, expected.name);
  EXPECT_EQ(kernel->target, expected.target);
  EXPECT_EQ(kernel->entry, expected.entry);
  EXPECT_EQ(kernel->binary, expected.binary);
  EXPECT_EQ(kernel->log, "ptxas info : \"quoted\" \xef\xbf\xbd not UTF-8\n");
  EXPECT_EQ(kernel->compiler, expected.compiler);
  EXPECT_EQ(kernel->registers, expected.registers);
  EXPECT_EQ(kernel->stack_bytes, expected.stack_bytes);
  EXPECT_EQ(kernel->spill_bytes, expected.spill_bytes);
  EXPECT_EQ(kernel->static_smem_bytes, expected.static_smem_bytes);
  EXPECT_EQ(kernel->compile_ms, expected.compile_ms);
}

TEST_P(Entry, IsCompressedWhenAsked) { EXPECT_EQ(bytes.size() < 1000u, GetParam() == Packing::zstd); }

TEST_P(Entry, HoldsSixtyFourMegabytesAtMost) {
  CompiledKernel large = example();
  large.binary.assign(kMostKernelBytes, 'x');
  const std::string too_large = encode_entry(key, large, GetParam());
  EXPECT_FALSE(inspect_entry(too_large));
  EXPECT_FALSE(kernel_bytes(too_large));
  EXPECT_FALSE(decode_entry(too_large, key, ""));
}

TEST_P(Entry, RefusesNumbersThatCannotBe) {
  for (const auto& spoil :
       {+[](CompiledKernel& k) { k.registers = -1; }, +[](CompiledKernel& k) { k.static_smem_bytes = -1; },
        +[](CompiledKernel& k) { k.spill_bytes = -1; }, +[](CompiledKernel& k) { k.compile_ms = -1; }}) {
    CompiledKernel spoilt = example();
    spoil(spoilt);
    EXPECT_FALSE(inspect_entry(encode_entry(key, spoilt, GetParam())));
  }
}

TEST_P(Entry, AnyCompilerMeansAny) {
  EXPECT_TRUE(decode_entry(bytes, key, ""));
  EXPECT_FALSE(decode_entry(bytes, key, "NVRTC 12.9 abc"));
}

TEST_P(Entry, RefusesTheKernelOfAnotherKey) {
  EXPECT_FALSE(decode_entry(bytes, KernelKey(test::TinyKernels::source(2), Digest{1, 2}), "NVRTC 13.0 abc"));
  EXPECT_FALSE(decode_entry(bytes, KernelKey(test::TinyKernels::source(1), Digest{1, 3}), "NVRTC 13.0 abc"));
  EXPECT_FALSE(decode_entry(bytes, KernelKey(test::TinyKernels::source(1, "sm_90a"), Digest{1, 2}), ""));
}

TEST_P(Entry, RefusesEveryTruncation) {
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(accepted(bytes.substr(0, size))) << size;
  EXPECT_FALSE(accepted(bytes + '\0'));
  EXPECT_TRUE(accepted(bytes));
}

// Magic, format, sizes, digest, reserved word, header hash, key text and payload: every bit of every byte.
TEST_P(Entry, RefusesEveryFlippedBit) {
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(accepted(damaged)) << "bit " << bit << " of byte " << at;
    }
}

TEST_P(Entry, SaysWhenItsFormatIsNotKnown) {
  EXPECT_FALSE(of_another_format(bytes));
  std::string newer = bytes;
  newer[8] = 3;
  EXPECT_FALSE(of_another_format(newer)) << "damage";
  const uint64_t hash = hash64(newer.data(), kHeaderBytes - 8);
  newer.replace(kHeaderBytes - 8, 8, reinterpret_cast<const char*>(&hash), 8);
  EXPECT_TRUE(of_another_format(newer));
  EXPECT_FALSE(accepted(newer));
}

// A header whose hash fits but whose sizes do not: what another library's defect could write.
TEST_P(Entry, RefusesConsistentNonsense) {
  for (size_t at = 8; at < kHeaderBytes - 8; at += 4) {
    std::string damaged = bytes;
    damaged.replace(at, 4, "\xff\xff\xff\x7f");
    const uint64_t hash = hash64(damaged.data(), kHeaderBytes - 8);
    damaged.replace(kHeaderBytes - 8, 8, reinterpret_cast<const char*>(&hash), 8);
    const bool reserved = at >= 48;  // not interpreted by this version
    EXPECT_EQ(accepted(damaged), reserved) << "field at " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Packings, Entry, testing::Values(Packing::zstd, Packing::none));

TEST(KernelKey, FollowsEverythingThatCanChangeTheBinary) {
  const Source source = test::TinyKernels::source(1);
  const KernelKey key(source, Digest{1, 2});
  Source other = source;
  other.unit += "\n";
  EXPECT_NE(KernelKey(other, Digest{1, 2}).unit, key.unit);
  other = source;
  other.entry += " ";
  EXPECT_NE(KernelKey(other, Digest{1, 2}).unit, key.unit);
  other = source;
  other.options.push_back("-lineinfo");
  EXPECT_NE(KernelKey(other, Digest{1, 2}).unit, key.unit);
  EXPECT_NE(KernelKey(source, Digest{1, 3}).unit, key.unit);
  EXPECT_NE(key.digest_with("NVRTC 13.0"), key.digest_with("NVRTC 13.1"));
  other = source;
  other.name = "the name is for people";
  EXPECT_EQ(KernelKey(other, Digest{1, 2}).unit, key.unit);
}

}  // namespace
}  // namespace hstujit
