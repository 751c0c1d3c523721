// Runs the built hstu-tune as a process, as a user would.
#pragma once

#include "support/temp_dir.hpp"

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace hstujit::test {

struct Outcome {
  int code = -1;  ///< exit code; 128 + signal when killed
  std::string out, err;
};

/// Environment of the process on top of the test's own; by default there is no driver.
using Variables = std::map<std::string, std::string>;

/// A running hstu-tune. Its store is `store` unless an argument says otherwise.
class ToolProcess {
 public:
  ToolProcess(const std::vector<std::string>& arguments, const std::string& store, Variables more = {});
  ~ToolProcess();  ///< kills it if nobody waited
  ToolProcess(const ToolProcess&) = delete;
  ToolProcess& operator=(const ToolProcess&) = delete;

  void signal(int number) const;
  Outcome wait();

 private:
  friend Outcome run_program(const std::vector<std::string>& command, const Variables& more);
  ToolProcess(std::vector<std::string> command, const Variables& more);

  TempDir dir_;  ///< its output
  pid_t process_ = -1;
};

/// Starts and waits.
Outcome hstu_tune(const std::vector<std::string>& arguments, const std::string& store, Variables more = {});

/// Any other program, looked for in PATH, with its outputs; code 127 when it is not installed.
Outcome run_program(const std::vector<std::string>& command, const Variables& more = {});
/// Where the built hstu-tune is, for programs that start it.
std::string hstu_tune_path();

/// The fake driver's library, and the one whose layer norm works (tests/tools/norm_driver).
std::string fake_driver_path();
std::string norm_driver_path();
/// A run-time compiler of any version (tests/tools/fake_nvrtc), and a disk on the network or read-only, for LD_PRELOAD.
std::string fake_nvrtc_path();
std::string fake_disk_path();
/// A profiler's tool library (tests/tools/fake_nvtx), for NVTX_INJECTION64_PATH.
std::string fake_nvtx_path();

}  // namespace hstujit::test
