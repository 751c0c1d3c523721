// What a compilation reports: entry, binary, registers, spills, and errors with all that is needed to mend them.
#include "jit/compiler.hpp"

#include "jit/tiny_kernel.hpp"
#include "support/error.hpp"
#include "support/nvrtc.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using test::TinyKernels;

class Compile : public testing::Test {
 protected:
  void SetUp() override { HSTU_NEEDS_NVRTC(); }

  CompiledKernel compiled(const Source& source) {
    return compile(nvrtc_at(Environment::read().libnvrtc), source, sources_.closure(source.header));
  }
  // A unit whose kernel body is `body`; the entry is "hstu::k<hstu::Config>".
  static Source with_body(const std::string& body, const std::string& target) {
    Source out = TinyKernels::source(0, target);
    out.unit += "namespace hstu { template <class C> __global__ void k(float* x, int n) { " + body + " } }\n";
    out.entry = "hstu::k<hstu::Config>";
    return out;
  }

 private:
  TinyKernels kernels_;
  KernelSources sources_{kernels_.folder()};
};

TEST_F(Compile, GivesACubinAndItsSymbol) {
  const CompiledKernel kernel = compiled(TinyKernels::source(7));
  EXPECT_EQ(kernel.binary.substr(1, 3), "ELF");
  EXPECT_NE(kernel.binary.find(kernel.entry), std::string::npos) << kernel.entry;
  EXPECT_EQ(kernel.target, "sm_80");
  EXPECT_EQ(kernel.compiler.substr(0, 6), "NVRTC ");
  EXPECT_GT(kernel.compile_ms, 0);
}

TEST_F(Compile, ReadsRegistersAndSharedMemoryFromTheLog) {
  for (const char* target : {"sm_80", "sm_90a"}) {
    const CompiledKernel kernel =
        compiled(with_body("__shared__ float s[256]; s[threadIdx.x] = x[threadIdx.x];"
                           " __syncthreads(); x[threadIdx.x] = s[255 - threadIdx.x];",
                           target));
    EXPECT_GT(kernel.registers, 3) << kernel.log;
    EXPECT_EQ(kernel.static_smem_bytes, 1024) << kernel.log;
    EXPECT_EQ(kernel.spill_bytes, 0) << kernel.log;
    EXPECT_EQ(kernel.flaw(), "") << kernel.log;
  }
}

TEST_F(Compile, AnArrayIndexedAtRunTimeIsAFlaw) {
  const CompiledKernel kernel =
      compiled(with_body("float a[64]; for (int i = 0; i < 64; ++i) a[i] = x[i]; for (int i = 0; i < n; ++i)"
                         " a[(i * 7) & 63] += a[i & 63]; for (int i = 0; i < 64; ++i) x[i] = a[i];",
                         "sm_80"));
  EXPECT_GE(kernel.stack_bytes, 256) << kernel.log;
  EXPECT_EQ(kernel.flaw(), "needs a stack frame");
}

TEST_F(Compile, SpillsAreAFlaw) {
  Source source = with_body(
      "float a[96];\n#pragma unroll\nfor (int i = 0; i < 96; ++i) a[i] = x[i * n];\n"
      "__syncthreads();\n#pragma unroll\nfor (int i = 0; i < 96; ++i) x[i * n + 1] = a[95 - i] * a[i];",
      "sm_80");
  source.options.push_back("--maxrregcount=32");
  const CompiledKernel kernel = compiled(source);
  EXPECT_GT(kernel.spill_bytes, 0) << kernel.log;
  EXPECT_EQ(kernel.flaw(), "registers spill to memory");
}

TEST_F(Compile, VirtualTargetsGivePtx) {
  const CompiledKernel kernel = compiled(TinyKernels::source(7, "compute_80"));
  EXPECT_NE(kernel.binary.find(".target sm_80"), std::string::npos);
  EXPECT_NE(kernel.binary.find(".entry " + kernel.entry), std::string::npos);
  EXPECT_NE(kernel.binary.back(), '\0');
}

TEST_F(Compile, IsBitIdentical) {
  EXPECT_EQ(compiled(TinyKernels::source(7)).binary, compiled(TinyKernels::source(7)).binary);
}

TEST_F(Compile, ErrorHasNameOptionsAndLog) {
  Source source = TinyKernels::source(7);
  source.unit += "namespace hstu { static_assert(Config::kValue == 8, \"seven is not eight\"); }\n";
  try {
    compiled(source);
    FAIL() << "the assertion does not hold";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_COMPILE);
    for (const char* part : {"tiny sm_80 value=7", "--gpu-architecture=sm_80", "seven is not eight", "NVRTC"})
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST_F(Compile, SeesNothingButTheGivenHeaders) {
  const test::TempDir elsewhere;
  test::write_file(elsewhere.path() / "local.cuh", "");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(elsewhere.path());
  Source source = TinyKernels::source(7);
  source.unit += "#include \"local.cuh\"\n";
  EXPECT_THROW(compiled(source), Error);
  std::filesystem::current_path(before);
}

TEST(CompiledKernel, ReadsThePtxasReport) {
  CompiledKernel kernel;
  kernel.log =
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     48 bytes stack frame, 12 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 48 bytes cumulative stack size, 1040 bytes smem\n";
  kernel.read_log();
  EXPECT_EQ(kernel.registers, 168);
  EXPECT_EQ(kernel.stack_bytes, 48);
  EXPECT_EQ(kernel.spill_bytes, 24);
  EXPECT_EQ(kernel.static_smem_bytes, 1040);
}

TEST(CompiledKernel, SerialisedWgmmaIsAFlaw) {
  CompiledKernel kernel;
  kernel.log = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n";
  kernel.read_log();
  EXPECT_NE(kernel.flaw(), "");
}

}  // namespace
}  // namespace hstujit
