// What the compiler made of a Source, with all it said about it: log, registers and spills are data.
#pragma once

#include <string>
#include <string_view>

namespace hstujit {

struct CompiledKernel {
  std::string name;      ///< Source::name
  std::string target;    ///< "sm_90a"
  std::string entry;     ///< lowered (mangled) symbol of the kernel
  std::string binary;    ///< cubin, or PTX text when target is virtual
  std::string log;       ///< everything NVRTC and ptxas printed
  std::string compiler;  ///< "NVRTC 13.0 <build id>"
  int registers = 0;     ///< per thread
  int stack_bytes = 0;   ///< per thread
  int spill_bytes = 0;   ///< stores plus loads
  int static_smem_bytes = 0;
  double compile_ms = 0;

  /// Why the tuner must not let it win: spills, a stack frame, "Potential Performance Loss"; empty when sound.
  std::string_view flaw() const;

  /// Fills registers, stack, spills and static shared memory from what ptxas -v wrote into the log.
  void read_log();
};

}  // namespace hstujit
