// Runs programs, mostly this one again with other arguments: once and to its end, or several at a time.
#pragma once

#include "support/files.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace hstujit::tool {

struct ChildOutput {
  int code = -1;    ///< exit code; 128 + signal when killed
  std::string out;  ///< standard output; standard error goes where ours goes
};

/// Another program, looked for in PATH. Throws std::system_error when it cannot be started.
ChildOutput run_command(const std::vector<std::string>& words);
/// This one.
ChildOutput run_self(const std::vector<std::string>& arguments);

/// One that runs beside us, both its outputs in one pipe. It is in a process group of its own, so that a terminal's
/// Ctrl-C reaches us alone, who pass it on.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();  ///< kills it if nobody waited
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  int output() const { return reading_.get(); }  ///< to read from, until its end
  void signal(int number) const;
  /// Its exit code; 128 + signal when killed.
  int wait();

 private:
  Fd reading_;
  pid_t process_ = -1;
};

}  // namespace hstujit::tool
