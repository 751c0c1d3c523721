// What the tuner asks of a device: is this kernel right, and how fast is it? gpu_bench.hpp answers for real.
#pragma once

#include "families/family.hpp"
#include "jit/compiled_kernel.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hstujit {

/// A configuration on its way through the tuner.
struct Candidate {
  const Family* family = nullptr;
  Config config;
  bool standard = false;  ///< the default configuration of the preferred family
  std::shared_ptr<const CompiledKernel> kernel;
};

struct Verdict {
  bool right = false;
  std::string why;  ///< when it is not
};

struct Sample {
  std::vector<double> seconds;  ///< one per repetition
  int sm_mhz = 0;               ///< 0 unknown
};

class Bench {
 public:
  virtual ~Bench() = default;

  /// Runs the kernel and compares its output with that of the default configuration, which is verified first. Throws
  /// Error when it cannot be loaded or launched.
  virtual Verdict verify(const Candidate& candidate) = 0;

  /// Times so many runs, after warming up. Throws Error when a launch fails.
  virtual Sample measure(const Candidate& candidate, int repetitions) = 0;

  /// False when a kernel has broken the device's context for good: nothing more can be run in this process.
  virtual bool alive() = 0;
};

}  // namespace hstujit
