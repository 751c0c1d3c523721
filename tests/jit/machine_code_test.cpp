// What of a cubin counts as its code.
#include "jit/machine_code.hpp"

#include "jit/compiler.hpp"
#include "jit/tiny_kernel.hpp"
#include "support/nvrtc.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using test::TinyKernels;

class MachineCode : public testing::Test {
 protected:
  void SetUp() override { HSTU_NEEDS_NVRTC(); }

  std::string cubin(const Source& source) {
    return compile(nvrtc_at(Environment::read().libnvrtc), source, sources_.closure(source.header)).binary;
  }
  /// The kernel's text with something in front of it.
  static Source behind(const std::string& text, int value = 7) {
    Source source = TinyKernels::source(value);
    source.unit = text + source.unit;
    return source;
  }

 private:
  TinyKernels kernels_;
  KernelSources sources_{kernels_.folder()};
};

TEST_F(MachineCode, IsTheSameHoweverTheTextIsWritten) {
  const auto code = machine_code(cubin(TinyKernels::source(7)));
  ASSERT_TRUE(code);
  EXPECT_EQ(machine_code(cubin(behind("// A word.\nstruct Unused {};\n"))), code);
  Source renamed = TinyKernels::source(7);
  renamed.unit += "namespace hstu { struct Another : Config {}; }\n";
  renamed.entry = "hstu::tiny<hstu::Another>";
  EXPECT_EQ(machine_code(cubin(renamed)), code) << "under another symbol";
}

TEST_F(MachineCode, DiffersWithAnInstructionOrAConstant) {
  EXPECT_NE(machine_code(cubin(TinyKernels::source(7))), machine_code(cubin(TinyKernels::source(8))));
  EXPECT_NE(machine_code(cubin(TinyKernels::source(7, "sm_80"))),
            machine_code(cubin(TinyKernels::source(7, "sm_90a"))));
}

TEST_F(MachineCode, OfDamagedBytesIsNothingOrTheirs) {
  const std::string whole = cubin(TinyKernels::source(7));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut(whole, 0, size);  // an allocation of its own, which ends there
    machine_code(cut);
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string spoiled = whole;
    spoiled[at] = static_cast<char>(~spoiled[at]);
    machine_code(spoiled);
  }
  EXPECT_FALSE(machine_code(""));
  EXPECT_FALSE(machine_code(std::string(64, '\x7f')));
  EXPECT_FALSE(machine_code(std::string_view(whole).substr(0, 100)));
}

}  // namespace
}  // namespace hstujit
